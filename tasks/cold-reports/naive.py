def solve(sensors: list[int], values: list[int], broken: list[int], width: int, step: int) -> int:
    good = [value for sensor, value in zip(sensors, values) if sensor not in broken]
    window = []
    heard = 0
    number = 0
    total = 0
    for value in good:
        heard += 1
        window.append(value)
        if len(window) > width:
            window.pop(0)
        if heard % step == 0:
            number += 1
            total += number * sorted(window)[0]
    return total
