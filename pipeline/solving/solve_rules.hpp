// The one rule for the end of a Krylov solve, whatever runs its iterations: a graph, a persistent kernel, the library, or
// ranks. The device stops when the residual of the recurrence is below the tolerance; what that means is decided here, on the
// host.
//
// The constants:
// - slack. The recurrence stops just below the tolerance, and rounding errors separate it from the true residual. A restart
//   discards the directions of the search, which costs more iterations than the last 10 % of a residual are worth.
// - progress_of_restart. A restart that gains less than 10 % gains rounding errors; to demand more would end solves that get
//   there in several restarts. There are at most 22 restarts for each factor of 10 of the residual.
// - least_progress. On ill-conditioned matrices the residual rises before it falls. So the least residual of the last
//   iterations (`patience` of them) is compared with the least of all before, without the first one, |b|, and not before
//   2 * patience iterations.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/contract/krylov.hpp"

namespace workbench {

/// How a solve ended. stagnated: `patience` iterations did not reduce the residual, or the true residual stays above the
/// tolerance although that of the recurrence is below it, and restarts do not help.
enum class SolveEnd { converged, iteration_limit, stagnated, indefinite, breakdown };

struct EndOfSolve {
    SolveEnd how = SolveEnd::converged;
    double residual = 0;  // over |b|; stagnated: that below which the last iterations or the last restart did not get
};

class SolveRules {
public:
    static constexpr double slack = 1.1;                // of the true residual over the tolerance
    static constexpr double progress_of_restart = 0.9;  // residual after a restart over that before, at most
    static constexpr double least_progress = 0.99;      // the residual must shrink to this within `patience` iterations

    /// tolerance: of |b - A x| / |b|. norm_of_b: |b|; 0: residuals are not divided.
    SolveRules(double tolerance, double norm_of_b, std::int64_t most_iterations, std::int64_t patience)
        : tolerance_(tolerance),
          norm_of_b_(norm_of_b > 0 ? norm_of_b : 1),
          most_iterations_(most_iterations),
          patience_(patience),
          next_check_(patience) {}

    [[nodiscard]] static bool gains(double residual, double before) { return residual < progress_of_restart * before; }

    /// The iterations after which the rule is to be asked again; a solve may ask earlier.
    [[nodiscard]] std::int64_t iterations_until_check(std::int64_t iterations) const {
        return std::min(std::max<std::int64_t>(next_check_ - iterations, 1), most_iterations_ - iterations);
    }

    /// None: the solve goes on, after a restart unless it is `running`. history(): [iterations + 1] |r| before the first
    /// iteration and after each one. true_residual(): |b - A x| / |b|. Both are called only if needed.
    template <typename History, typename TrueResidual>
    [[nodiscard]] std::optional<EndOfSolve> end(const KrylovProgress& progress, const History& history,
                                                const TrueResidual& true_residual) {
        const std::int64_t iterations = progress.iterations;
        std::optional<EndOfSolve> end;
        switch (progress.state) {
            case KrylovState::running:
                if (iterations >= most_iterations_) return EndOfSolve{SolveEnd::iteration_limit};
                if (iterations < next_check_) return std::nullopt;
                end = stagnation(history());
                break;
            case KrylovState::converged: end = convergence(true_residual()); break;
            case KrylovState::indefinite: return EndOfSolve{SolveEnd::indefinite};
            case KrylovState::breakdown:
                if (!gains(progress.residual, residual_at_breakdown_)) return EndOfSolve{SolveEnd::breakdown};
                residual_at_breakdown_ = progress.residual;
                break;
        }
        next_check_ = iterations + patience_;
        return end;
    }

private:
    [[nodiscard]] std::optional<EndOfSolve> stagnation(const std::vector<double>& history) const {
        if (std::ssize(history) < 2 * patience_ + 1) return std::nullopt;
        const auto first_of_last = history.end() - patience_;
        const double before = *std::min_element(history.begin() + 1, first_of_last);
        if (*std::min_element(first_of_last, history.end()) < least_progress * before) return std::nullopt;
        return EndOfSolve{SolveEnd::stagnated, before / norm_of_b_};
    }

    [[nodiscard]] std::optional<EndOfSolve> convergence(double residual) {
        if (residual <= slack * tolerance_) return EndOfSolve{SolveEnd::converged};
        if (!gains(residual, true_residual_before_)) return EndOfSolve{SolveEnd::stagnated, residual};
        true_residual_before_ = residual;
        return std::nullopt;
    }

    double tolerance_;
    double norm_of_b_;
    std::int64_t most_iterations_;
    std::int64_t patience_;
    std::int64_t next_check_;
    double residual_at_breakdown_ = std::numeric_limits<double>::infinity();  // the last one; of the recurrence
    double true_residual_before_ = std::numeric_limits<double>::infinity();   // at the last restart for accuracy
};

}  // namespace workbench
