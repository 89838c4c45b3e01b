def solve(values, target):
    # How often each number stood before; one look-up for each number finds its partners.
    before = {}
    seen = before.get
    pairs = 0
    for value in values:
        pairs += seen(target - value, 0)
        before[value] = seen(value, 0) + 1
    return pairs
