def solve(values, target):
    values.sort()
    low, high = 0, len(values) - 1
    pairs = 0
    while low < high:
        small, large = values[low], values[high]
        total = small + large
        if total < target:
            low += 1
        elif total > target:
            high -= 1
        elif small == large:
            count = high - low + 1
            return pairs + count * (count - 1) // 2
        else:
            start, end = low, high
            while values[low] == small:
                low += 1
            while values[high] == large:
                high -= 1
            pairs += (low - start) * (end - high)
    return pairs
