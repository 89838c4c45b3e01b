#include <cstdint>
#include <vector>

// An open hash table: how often each number stood before.
long long solve(const std::vector<long long>& values, long long target) {
    struct Slot {
        long long value;
        long long count;
    };
    int bits = 4;
    while ((std::size_t{1} << bits) < 2 * values.size()) {
        ++bits;
    }
    const std::size_t mask = (std::size_t{1} << bits) - 1;
    std::vector<Slot> slots(mask + 1);
    auto find = [&](long long value) -> Slot& {
        std::size_t at = (static_cast<std::uint64_t>(value) * 0x9E3779B97F4A7C15ULL) >> (64 - bits);
        while (slots[at].count != 0 && slots[at].value != value) {
            at = (at + 1) & mask;
        }
        return slots[at];
    };
    long long pairs = 0;
    for (long long value : values) {
        pairs += find(target - value).count;
        Slot& own = find(value);
        own.value = value;
        ++own.count;
    }
    return pairs;
}
