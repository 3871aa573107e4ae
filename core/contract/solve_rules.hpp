// When a Krylov solve has converged, stagnates, or gains nothing by a restart.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

namespace workbench::solve_rules {

inline constexpr double slack = 1.1;                // of the true residual over the tolerance: rounding in the recurrence
inline constexpr double progress_of_restart = 0.9;  // residual after a restart over that before, at most
inline constexpr double least_progress = 0.99;      // the residual must shrink to this within `patience` iterations

/// The least residuals of the last `patience` iterations and of those before, without the first residual, |b|: on
/// ill-conditioned matrices the residual rises before it falls.
struct LeastResiduals {
    double before = std::numeric_limits<double>::infinity();
    double last = std::numeric_limits<double>::infinity();

    [[nodiscard]] bool stagnates() const { return !(last < least_progress * before); }
};

/// history: [iterations + 1] |r| before the first iteration and after each one. None before 2 * patience iterations.
[[nodiscard]] inline std::optional<LeastResiduals> least_residuals(std::span<const double> history, std::int64_t patience) {
    if (std::ssize(history) < 2 * patience + 1) return std::nullopt;
    const auto first_of_last = history.end() - patience;
    return LeastResiduals{*std::min_element(history.begin() + 1, first_of_last),
                          *std::min_element(first_of_last, history.end())};
}

}  // namespace workbench::solve_rules
