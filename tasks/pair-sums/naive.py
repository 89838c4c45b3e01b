def solve(values, target):
    pairs = 0
    for i in range(len(values)):
        for j in range(i + 1, len(values)):
            if values[i] + values[j] == target:
                pairs += 1
    return pairs
