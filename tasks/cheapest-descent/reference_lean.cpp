#include <algorithm>
#include <string>
#include <vector>

namespace {

using Field = std::vector<std::vector<long long>>;

const long long kFar = 1LL << 60;

// The leftmost column in which a cheapest walk steps down from the middle row.
int crossing(const Field& tolls, int top, int left, int bottom, int right, int middle,
             std::vector<long long>& above, std::vector<long long>& below) {
    std::fill(above.begin() + left, above.begin() + right + 1, kFar);
    above[left] = 0;
    for (int row = top; row <= middle; ++row) {
        long long before = kFar;
        for (int column = left; column <= right; ++column) {
            before = std::min(above[column], before) + tolls[row][column];
            above[column] = before;
        }
    }
    std::fill(below.begin() + left, below.begin() + right + 1, kFar);
    below[right] = 0;
    for (int row = bottom; row > middle; --row) {
        long long after = kFar;
        for (int column = right; column >= left; --column) {
            after = std::min(below[column], after) + tolls[row][column];
            below[column] = after;
        }
    }
    int leave = left;
    for (int column = left; column <= right; ++column) {
        if (above[column] + below[column] < above[leave] + below[leave]) {
            leave = column;
        }
    }
    return leave;
}

void walk_within(const Field& tolls, int top, int left, int bottom, int right, std::vector<long long>& above,
                 std::vector<long long>& below, std::string& walk) {
    if (top == bottom) {
        walk.append(right - left, 'R');
    } else if (left == right) {
        walk.append(bottom - top, 'D');
    } else {
        const int middle = (top + bottom) / 2;
        const int leave = crossing(tolls, top, left, bottom, right, middle, above, below);
        walk_within(tolls, top, left, middle, leave, above, below, walk);
        walk += 'D';
        walk_within(tolls, middle + 1, leave, bottom, right, above, below, walk);
    }
}

}  // namespace

// Two rows of costs tell where the walk leaves the middle row; then both halves likewise.
std::string solve(const std::vector<std::vector<long long>>& tolls) {
    const int n = static_cast<int>(tolls.size());
    std::vector<long long> above(n);
    std::vector<long long> below(n);
    std::string walk;
    walk.reserve(2 * n);
    walk_within(tolls, 0, 0, n - 1, n - 1, above, below, walk);
    return walk;
}
