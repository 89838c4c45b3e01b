#include <algorithm>
#include <vector>

// The numbers so far, in order; each new one is put in its place.
long long solve(const std::vector<long long>& values, long long target) {
    std::vector<long long> before;
    long long pairs = 0;
    for (long long value : values) {
        const auto [first, last] = std::equal_range(before.begin(), before.end(), target - value);
        pairs += last - first;
        before.insert(std::upper_bound(before.begin(), before.end(), value), value);
    }
    return pairs;
}
