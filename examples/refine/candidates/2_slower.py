from collections import defaultdict


def solve(values, target):
    before = defaultdict(list)
    pairs = 0
    for position, value in enumerate(values):
        before[value].append((position, value))
        pairs += sum(1 for place, _ in before[target - value] if place < position)
    return pairs
