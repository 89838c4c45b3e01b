#include <algorithm>
#include <utility>
#include <vector>

long long solve(const std::vector<long long>& values, const std::vector<std::pair<long long, long long>>& questions) {
    long long total = 0;
    for (const auto& [first, last] : questions) {
        std::vector<long long> part(values.begin() + first, values.begin() + last + 1);
        const auto [low, high] = std::minmax_element(part.begin(), part.end());
        total += *high - *low;
    }
    return total;
}
