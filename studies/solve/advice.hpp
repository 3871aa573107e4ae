// Which recipe takes the least time in all, for each number of solves with one matrix.
#pragma once

#include <optional>
#include <vector>

#include "studies/solve/solve_report.hpp"

namespace workbench {

/// The recipe with the least time for `from` or more solves, up to the `from` of the next one.
struct Advised {
    const SolveOutcome* outcome;
    long long from;
};

/// Ascending by `from`. N solves take once_seconds() + N each_seconds(). The first is the one with the least time for one
/// solve, the baseline if several have it; each next one is faster than the one before beyond noise (speedup_of). Tuned solves,
/// controls and recipes that did not converge are left out; empty if fewer than two recipes remain, or if the times of the
/// baseline are noise. new_values: each solve has new values of the matrix.
[[nodiscard]] std::vector<Advised> advice_of(const SolveReport& report, bool new_values = false);

/// The recipe that takes the least time for many solves although it is not faster than the last one of advice_of beyond noise,
/// and the number of solves from which on it takes less than that one; none beyond the axis of time_by_solves.
[[nodiscard]] std::optional<Advised> less_within_noise(const SolveReport& report, const Advised& last, bool new_values);

/// The time of N solves over N, a line a recipe, and the crossings of advice_of.
[[nodiscard]] XyChart time_by_solves(const SolveReport& report);

}  // namespace workbench
