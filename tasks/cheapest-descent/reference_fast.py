def solve(tolls):
    # From the end to the start: what the rest of the walk costs, and one byte for the better step.
    n = len(tolls)
    far = 10 * n * 2
    below = [far] * n + [far]
    below[n - 1] = 0
    steps = []
    for row in reversed(tolls):
        right = far
        better = bytearray(n)
        for column in range(n - 1, -1, -1):
            down = below[column]
            if down <= right:
                better[column] = 1
                right = down
            right += row[column]
            below[column] = right
        steps.append(better)
    steps.reverse()
    walk = []
    row = column = 0
    while row < n - 1 or column < n - 1:
        if steps[row][column] and row < n - 1:
            walk.append("D")
            row += 1
        else:
            walk.append("R")
            column += 1
    return "".join(walk)
