#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

// Only readings that no later one undercuts can still be in a report; their values rise.
long long solve(const std::vector<long long>& sensors, const std::vector<long long>& values,
                const std::vector<long long>& broken, long long width, long long step) {
    const long long count = *std::max_element(sensors.begin(), sensors.end()) + 1;
    std::vector<char> ignored(count);
    for (long long sensor : broken) {
        if (sensor < count) {
            ignored[sensor] = 1;
        }
    }
    std::deque<std::pair<long long, long long>> kept;
    long long heard = 0;
    long long number = 0;
    long long total = 0;
    for (std::size_t at = 0; at < values.size(); ++at) {
        if (ignored[sensors[at]]) {
            continue;
        }
        ++heard;
        while (!kept.empty() && kept.back().second >= values[at]) {
            kept.pop_back();
        }
        kept.push_back({heard, values[at]});
        if (kept.front().first <= heard - width) {
            kept.pop_front();
        }
        if (heard % step == 0) {
            ++number;
            total += number * kept.front().second;
        }
    }
    return total;
}
