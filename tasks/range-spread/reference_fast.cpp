#include <algorithm>
#include <utility>
#include <vector>

// The extremes of every stretch whose length is a power of two; two of them cover any part.
long long solve(const std::vector<long long>& values, const std::vector<std::pair<long long, long long>>& questions) {
    std::vector<std::vector<long long>> lowest{values};
    std::vector<std::vector<long long>> highest{values};
    for (std::size_t half = 1; 2 * half <= values.size(); half *= 2) {
        const std::size_t count = values.size() - 2 * half + 1;
        std::vector<long long> low(count);
        std::vector<long long> high(count);
        for (std::size_t at = 0; at < count; ++at) {
            low[at] = std::min(lowest.back()[at], lowest.back()[at + half]);
            high[at] = std::max(highest.back()[at], highest.back()[at + half]);
        }
        lowest.push_back(std::move(low));
        highest.push_back(std::move(high));
    }
    long long total = 0;
    for (const auto& [first, last] : questions) {
        const int level = 63 - __builtin_clzll(static_cast<unsigned long long>(last - first + 1));
        const std::size_t second = static_cast<std::size_t>(last + 1 - (1LL << level));
        total += std::max(highest[level][first], highest[level][second]);
        total -= std::min(lowest[level][first], lowest[level][second]);
    }
    return total;
}
