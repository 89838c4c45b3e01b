def solve(values, target):
    # Forgets that a number can be its own partner.
    seen = set(values)
    return sum(target - value in seen for value in values) // 2
