def solve(tolls):
    # What the rest of the walk costs from each cell, all of it kept.
    n = len(tolls)
    rest = {}
    for row in range(n - 1, -1, -1):
        for column in range(n - 1, -1, -1):
            further = []
            if row < n - 1:
                further.append(rest[row + 1, column])
            if column < n - 1:
                further.append(rest[row, column + 1])
            rest[row, column] = tolls[row][column] + (min(further) if further else 0)
    walk = ""
    row = column = 0
    while (row, column) != (n - 1, n - 1):
        if column == n - 1 or (row < n - 1 and rest[row + 1, column] <= rest[row, column + 1]):
            walk += "D"
            row += 1
        else:
            walk += "R"
            column += 1
    return walk
