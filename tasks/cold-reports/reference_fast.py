def solve(sensors, values, broken, width, step):
    # The lowest reading of each step; a report needs a few of those and the beginning of one step.
    ignored = set(broken)
    good = [value for sensor, value in zip(sensors, values) if sensor not in ignored]
    reports = len(good) // step
    lows = [min(good[number * step : (number + 1) * step]) for number in range(reports)]
    total = 0
    for number in range(1, reports + 1):
        end = number * step
        start = max(0, end - width)
        whole = -(-start // step)
        kept = lows[whole:number]
        kept += good[start : min(whole * step, end)]
        total += number * min(kept)
    return total
