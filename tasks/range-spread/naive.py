def solve(values, questions):
    total = 0
    for first, last in questions:
        part = values[first : last + 1]
        total += max(part) - min(part)
    return total
