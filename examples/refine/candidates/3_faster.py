def solve(values, target):
    before = {}
    seen = before.get
    pairs = 0
    for value in values:
        pairs += seen(target - value, 0)
        before[value] = seen(value, 0) + 1
    return pairs
