#include <algorithm>
#include <vector>

long long solve(const std::vector<long long>& sensors, const std::vector<long long>& values,
                const std::vector<long long>& broken, long long width, long long step) {
    std::vector<long long> window;
    long long heard = 0;
    long long number = 0;
    long long total = 0;
    for (std::size_t at = 0; at < values.size(); ++at) {
        if (std::find(broken.begin(), broken.end(), sensors[at]) != broken.end()) {
            continue;
        }
        ++heard;
        window.push_back(values[at]);
        if (static_cast<long long>(window.size()) > width) {
            window.erase(window.begin());
        }
        if (heard % step == 0) {
            std::vector<long long> sorted = window;
            std::sort(sorted.begin(), sorted.end());
            ++number;
            total += number * sorted[0];
        }
    }
    return total;
}
