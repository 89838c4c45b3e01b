#include <algorithm>
#include <vector>

// Sorted in place, then closed in on from both ends: no memory beyond the input.
long long solve(std::vector<long long>& values, long long target) {
    std::sort(values.begin(), values.end());
    long long pairs = 0;
    std::size_t low = 0;
    std::size_t high = values.size() - 1;
    while (low < high) {
        const long long small = values[low];
        const long long large = values[high];
        if (small + large < target) {
            ++low;
        } else if (small + large > target) {
            --high;
        } else if (small == large) {
            const long long count = static_cast<long long>(high - low + 1);
            return pairs + count * (count - 1) / 2;
        } else {
            const std::size_t start = low;
            const std::size_t end = high;
            while (values[low] == small) {
                ++low;
            }
            while (values[high] == large) {
                --high;
            }
            pairs += static_cast<long long>((low - start) * (end - high));
        }
    }
    return pairs;
}
