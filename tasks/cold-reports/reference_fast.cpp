#include <algorithm>
#include <vector>

// The lowest reading of each step; a report needs a few of those and the beginning of one step.
long long solve(const std::vector<long long>& sensors, const std::vector<long long>& values,
                const std::vector<long long>& broken, long long width, long long step) {
    const long long count = *std::max_element(sensors.begin(), sensors.end()) + 1;
    std::vector<char> ignored(count);
    for (long long sensor : broken) {
        if (sensor < count) {
            ignored[sensor] = 1;
        }
    }
    std::vector<long long> good(values.size());
    long long heard = 0;
    for (std::size_t at = 0; at < values.size(); ++at) {
        good[heard] = values[at];
        heard += !ignored[sensors[at]];
    }
    const long long reports = heard / step;
    std::vector<long long> lows(reports);
    for (long long number = 0; number < reports; ++number) {
        const auto start = good.begin() + number * step;
        lows[number] = *std::min_element(start, start + step);
    }
    long long total = 0;
    for (long long number = 1; number <= reports; ++number) {
        const long long end = number * step;
        const long long start = std::max(0LL, end - width);
        const long long whole = (start + step - 1) / step;
        long long low = good[start];
        for (long long at = start; at < std::min(whole * step, end); ++at) {
            low = std::min(low, good[at]);
        }
        for (long long at = whole; at < number; ++at) {
            low = std::min(low, lows[at]);
        }
        total += number * low;
    }
    return total;
}
