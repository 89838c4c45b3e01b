def solve(tolls):
    walk = []
    walk_within(tolls, 0, 0, len(tolls) - 1, len(tolls) - 1, walk)
    return "".join(walk)


def walk_within(tolls, top, left, bottom, right, walk):
    # Two rows of costs tell where the walk leaves the middle row; then both halves likewise.
    if top == bottom:
        walk.append("R" * (right - left))
    elif left == right:
        walk.append("D" * (bottom - top))
    else:
        middle = (top + bottom) // 2
        leave = crossing(tolls, top, left, bottom, right, middle)
        walk_within(tolls, top, left, middle, leave, walk)
        walk.append("D")
        walk_within(tolls, middle + 1, leave, bottom, right, walk)


def crossing(tolls, top, left, bottom, right, middle):
    """The leftmost column in which a cheapest walk steps down from the middle row."""
    width = right - left + 1
    far = 1 << 60
    above = [far] * width
    above[0] = 0
    for index in range(top, middle + 1):
        before = far
        column = 0
        for toll in tolls[index][left : right + 1]:
            if above[column] < before:
                before = above[column]
            before += toll
            above[column] = before
            column += 1
    below = [far] * width
    below[-1] = 0
    for index in range(bottom, middle, -1):
        after = far
        column = width
        for toll in reversed(tolls[index][left : right + 1]):
            column -= 1
            if below[column] < after:
                after = below[column]
            after += toll
            below[column] = after
    best, leave = far, 0
    for column in range(width):
        total = above[column] + below[column]
        if total < best:
            best, leave = total, column
    return left + leave
