// Medians with confidence intervals.
#pragma once

#include <optional>
#include <vector>

namespace workbench {

struct Interval {
    double low = 0;
    double high = 0;

    friend bool operator==(const Interval&, const Interval&) = default;
};

/// The least number of samples for an interval.
inline constexpr std::size_t fewest_for_interval = 5;

struct Median {
    double value = 0;                  // the mean of the middle two of an even number; 0 without samples
    std::optional<Interval> interval;  // holds the true median with 95 % confidence (five samples: with 93.75 %)
};

/// The interval lies between two of the sorted samples, the j-th from below and the j-th from above, with the largest j for
/// which fewer than j of n fair coins show heads with a probability of at most 2.5 %: it does not depend on the
/// distribution of the samples (Conover, 'Practical Nonparametric Statistics', 3.2; Hoefler and Belli, 'Scientific benchmarking
/// of parallel computing systems' (2015), 3.1.3).
[[nodiscard]] Median median_of(std::vector<double> samples);

}  // namespace workbench
