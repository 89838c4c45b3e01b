#include <algorithm>
#include <utility>
#include <vector>

namespace {

const std::size_t kBlock = 64;

}  // namespace

// The extremes of whole blocks, and a look at the numbers themselves at both ends of a part.
long long solve(const std::vector<long long>& values, const std::vector<std::pair<long long, long long>>& questions) {
    std::vector<long long> lowest;
    std::vector<long long> highest;
    for (std::size_t at = 0; at < values.size(); at += kBlock) {
        const auto end = values.begin() + std::min(at + kBlock, values.size());
        lowest.push_back(*std::min_element(values.begin() + at, end));
        highest.push_back(*std::max_element(values.begin() + at, end));
    }
    long long total = 0;
    for (const auto& [first, last] : questions) {
        std::size_t at = static_cast<std::size_t>(first);
        const std::size_t end = static_cast<std::size_t>(last) + 1;
        long long low = values[at];
        long long high = values[at];
        auto look = [&](long long least, long long most) {
            low = std::min(low, least);
            high = std::max(high, most);
        };
        for (; at < end && at % kBlock != 0; ++at) {
            look(values[at], values[at]);
        }
        for (; at + kBlock <= end; at += kBlock) {
            look(lowest[at / kBlock], highest[at / kBlock]);
        }
        for (; at < end; ++at) {
            look(values[at], values[at]);
        }
        total += high - low;
    }
    return total;
}
