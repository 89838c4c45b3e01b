#include <string>
#include <vector>

// From the end to the start: what the rest of the walk costs, and one byte for the better step.
std::string solve(const std::vector<std::vector<long long>>& tolls) {
    const int n = static_cast<int>(tolls.size());
    const long long far = 1LL << 60;
    std::vector<long long> below(n, far);
    below[n - 1] = 0;
    std::vector<char> down(static_cast<std::size_t>(n) * n);
    for (int row = n - 1; row >= 0; --row) {
        long long rest = far;
        for (int column = n - 1; column >= 0; --column) {
            const bool better = below[column] <= rest;
            down[static_cast<std::size_t>(row) * n + column] = better;
            rest = (better ? below[column] : rest) + tolls[row][column];
            below[column] = rest;
        }
    }
    std::string walk;
    int row = 0;
    int column = 0;
    while (row < n - 1 || column < n - 1) {
        if (row < n - 1 && down[static_cast<std::size_t>(row) * n + column]) {
            walk += 'D';
            ++row;
        } else {
            walk += 'R';
            ++column;
        }
    }
    return walk;
}
