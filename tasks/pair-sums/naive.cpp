#include <vector>

long long solve(const std::vector<long long>& values, long long target) {
    long long pairs = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        for (std::size_t j = i + 1; j < values.size(); ++j) {
            if (values[i] + values[j] == target) {
                ++pairs;
            }
        }
    }
    return pairs;
}
