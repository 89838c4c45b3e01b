BLOCK = 64


def solve(values, questions):
    # The extremes of whole blocks, and a look at the numbers themselves at both ends of a part.
    lowest = [min(values[at : at + BLOCK]) for at in range(0, len(values), BLOCK)]
    highest = [max(values[at : at + BLOCK]) for at in range(0, len(values), BLOCK)]
    total = 0
    for first, last in questions:
        end = last + 1
        start_block = -(-first // BLOCK)
        end_block = end // BLOCK
        if start_block >= end_block:
            part = values[first:end]
            total += max(part) - min(part)
            continue
        edges = values[first : start_block * BLOCK]
        edges += values[end_block * BLOCK : end]
        low = min(lowest[start_block:end_block])
        high = max(highest[start_block:end_block])
        if edges:
            low = min(low, min(edges))
            high = max(high, max(edges))
        total += high - low
    return total
