#include "pipeline/measure/median.hpp"

#include <algorithm>
#include <cmath>

namespace workbench {
namespace {

/// The largest j >= 1 for which fewer than j heads of n fair coins have a probability of at most 2.5 %.
std::size_t rank_of_interval(std::size_t n) {
    constexpr std::size_t most_counted = 1000;  // 2^-n underflows soon after
    const auto count = static_cast<double>(n);
    if (n > most_counted) return static_cast<std::size_t>(count / 2 - 0.98 * std::sqrt(count));  // 1.96 deviations
    double exactly = std::ldexp(1.0, -static_cast<int>(n));  // the probability of exactly this many heads
    double fewer = exactly;
    std::size_t rank = 0;
    for (std::size_t heads = 0; fewer <= 0.025; ++heads) {
        rank = heads + 1;
        exactly *= static_cast<double>(n - heads) / static_cast<double>(heads + 1);
        fewer += exactly;
    }
    return std::max<std::size_t>(rank, 1);
}

}  // namespace

Median median_of(std::vector<double> samples) {
    Median median;
    const std::size_t n = samples.size();
    if (n == 0) return median;
    std::sort(samples.begin(), samples.end());
    median.value = (n % 2 == 1) ? samples[n / 2] : (samples[n / 2 - 1] + samples[n / 2]) / 2;
    if (n < fewest_for_interval) return median;
    const std::size_t rank = rank_of_interval(n);
    median.interval = Interval{samples[rank - 1], samples[n - rank]};
    return median;
}

}  // namespace workbench
