def solve(values, target):
    positions = {}
    for position, value in enumerate(values):
        positions.setdefault(value, []).append(position)
    pairs = 0
    for value, places in positions.items():
        partner = target - value
        if partner == value:
            pairs += len(places) * (len(places) - 1)
        elif partner in positions:
            pairs += len(places) * len(positions[partner])
    return pairs // 2
