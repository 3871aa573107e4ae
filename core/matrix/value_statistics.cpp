#include "core/matrix/value_statistics.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/matrix/distinct_values.hpp"

namespace workbench {

ValueStatistics value_statistics(std::span<const double> values) {
    std::vector<std::uint64_t> sorted(values.size());
    std::transform(values.begin(), values.end(), sorted.begin(),
                   [](double value) { return std::bit_cast<std::uint64_t>(value); });
    std::sort(sorted.begin(), sorted.end());
    ValueStatistics statistics;
    for (auto first = sorted.begin(); first != sorted.end();) {
        const auto last = std::find_if(first, sorted.end(), [&](std::uint64_t bits) { return bits != *first; });
        const double frequency = static_cast<double>(last - first) / static_cast<double>(sorted.size());
        ++statistics.distinct;
        statistics.exact_in_f32 = statistics.exact_in_f32 && is_exact_in_f32(std::bit_cast<double>(*first));
        statistics.entropy_bytes -= frequency * std::log2(frequency) / 8;
        first = last;
    }
    return statistics;
}

}  // namespace workbench
