def solve(values, questions):
    # The extremes of every stretch whose length is a power of two; two of them cover any part.
    lowest, highest = [values], [values]
    half = 1
    while 2 * half <= len(values):
        row = lowest[-1]
        lowest.append(list(map(min, row, row[half:])))
        row = highest[-1]
        highest.append(list(map(max, row, row[half:])))
        half *= 2
    total = 0
    for first, last in questions:
        level = (last - first + 1).bit_length() - 1
        second = last + 1 - (1 << level)
        low = lowest[level]
        high = highest[level]
        total += high[first] if high[first] > high[second] else high[second]
        total -= low[first] if low[first] < low[second] else low[second]
    return total
