from bisect import bisect_left, bisect_right, insort


def solve(values, target):
    # The numbers so far, in order; each new one is put in its place.
    before = []
    pairs = 0
    for value in values:
        partner = target - value
        pairs += bisect_right(before, partner) - bisect_left(before, partner)
        insort(before, value)
    return pairs
