from collections import deque


def solve(sensors, values, broken, width, step):
    # Only readings that no later one undercuts can still be in a report; their values rise.
    ignored = set(broken)
    kept = deque()
    heard = total = number = 0
    for sensor, value in zip(sensors, values):
        if sensor in ignored:
            continue
        heard += 1
        while kept and kept[-1][1] >= value:
            kept.pop()
        kept.append((heard, value))
        if kept[0][0] <= heard - width:
            kept.popleft()
        if heard % step == 0:
            number += 1
            total += number * kept[0][1]
    return total
