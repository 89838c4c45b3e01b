#include <algorithm>
#include <string>
#include <vector>

// From the end to the start: what the rest of the walk costs, and one byte for the better step.
std::string solve(const std::vector<std::vector<long long>>& tolls) {
    const int n = static_cast<int>(tolls.size());
    const long long far = 1LL << 60;
    std::vector<long long> below(n, far);
    below[n - 1] = 0;
    std::vector<char> steps(static_cast<std::size_t>(n) * n);
    for (int row = n - 1; row >= 0; --row) {
        const long long* toll = tolls[row].data();
        long long* cost = below.data();
        char* down = steps.data() + static_cast<std::size_t>(row) * n;
        long long rest = far;
        for (int column = n - 1; column >= 0; --column) {
            const long long below_here = cost[column];
            const long long lower = std::min(below_here, rest);
            down[column] = lower == below_here;
            rest = lower + toll[column];
            cost[column] = rest;
        }
    }
    std::string walk;
    int row = 0;
    int column = 0;
    while (row < n - 1 || column < n - 1) {
        if (row < n - 1 && steps[static_cast<std::size_t>(row) * n + column]) {
            walk += 'D';
            ++row;
        } else {
            walk += 'R';
            ++column;
        }
    }
    return walk;
}
