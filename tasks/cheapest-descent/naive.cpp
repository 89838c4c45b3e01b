#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

// What the rest of the walk costs from each cell, all of it kept.
std::string solve(const std::vector<std::vector<long long>>& tolls) {
    const int n = static_cast<int>(tolls.size());
    std::map<std::pair<int, int>, long long> rest;
    for (int row = n - 1; row >= 0; --row) {
        for (int column = n - 1; column >= 0; --column) {
            std::vector<long long> further;
            if (row < n - 1) {
                further.push_back(rest[{row + 1, column}]);
            }
            if (column < n - 1) {
                further.push_back(rest[{row, column + 1}]);
            }
            const long long onward = further.empty() ? 0 : *std::min_element(further.begin(), further.end());
            rest[{row, column}] = tolls[row][column] + onward;
        }
    }
    std::string walk;
    int row = 0;
    int column = 0;
    while (row < n - 1 || column < n - 1) {
        if (column == n - 1 || (row < n - 1 && rest[{row + 1, column}] <= rest[{row, column + 1}])) {
            walk += 'D';
            ++row;
        } else {
            walk += 'R';
            ++column;
        }
    }
    return walk;
}
