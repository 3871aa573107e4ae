// The course of one solve of the library.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <stdexcept>

#include <spmv_workbench/spmv_workbench.hpp>

#include "core/contract/solvers.hpp"
#include "pipeline/measure/timing.hpp"
#include "pipeline/solving/solve_rules.hpp"

namespace workbench {

using spmv_workbench::SolveFacts;
using spmv_workbench::SolverOptions;

inline void require_right(const SolverOptions& options) {
    if (!(options.tolerance > 0)) throw std::invalid_argument("SolverOptions::tolerance: expected a positive number");
    if (options.most_iterations < 1 || options.patience < 1) {
        throw std::invalid_argument("SolverOptions: expected at least 1 for most_iterations and patience");
    }
    if (options.expected_iterations < 0) {
        throw std::invalid_argument("SolverOptions::expected_iterations: expected 0 or a positive number");
    }
}

/// One solve: runs the iterations, restarts where that helps, and decides how the solve ends.
template <typename Value>
class OneCourse {
public:
    OneCourse(Krylov<Value>& krylov, const SolverOptions& options)
        : krylov_(krylov), options_(options), norm_of_b_(krylov.begin_again(options.tolerance)) {
        if (norm_of_b_ > 0) norm_ = norm_of_b_;
    }

    /// As the device computes it: 0 or infinity if squares leave the range of f64.
    [[nodiscard]] double norm_of_b() const { return norm_of_b_; }

    /// Both are called between iterations, unless they are empty: stop() several times a second, each_iteration(iterations,
    /// residual) after each one.
    SolveFacts run(const std::function<void()>& stop,
                   const std::function<void(std::int64_t iterations, double residual)>& each_iteration) {
        SolveRules rules(options_.tolerance, norm_of_b_, options_.most_iterations, options_.patience);
        progress_ = krylov_.wait();
        std::int64_t at_once = stop ? 1 : options_.most_iterations;
        std::optional<EndOfSolve> end;
        while (!(end = check(rules))) {
            const Stopwatch watch;
            const std::int64_t most = rules.iterations_until_check(progress_.iterations);
            krylov_.launch(each_iteration ? 1 : std::min(most, at_once));
            progress_ = krylov_.wait();
            if (each_iteration) each_iteration(progress_.iterations, progress_.residual / norm_);
            if (!stop) continue;
            stop();
            if (watch.seconds() < seconds_between_stops / 2) at_once = std::min(2 * at_once, options_.most_iterations);
        }
        const std::int64_t iterations = progress_.iterations;
        if (end->how != SolveEnd::converged) (void)true_residual();
        return {static_cast<spmv_workbench::SolveEnd>(end->how), iterations, progress_.residual / norm_};
    }

private:
    static constexpr double seconds_between_stops = 0.2;
    static_assert(static_cast<int>(spmv_workbench::SolveEnd::breakdown) == static_cast<int>(SolveEnd::breakdown));

    std::optional<EndOfSolve> check(SolveRules& rules) {
        const KrylovProgress now = progress_;
        const auto end = rules.end(
            now, [this] { return krylov_.history(); }, [this] { return true_residual(); });
        if (!end && now.state == KrylovState::breakdown) (void)true_residual();
        return end;
    }

    /// Restarts from the current x, which computes it.
    double true_residual() {
        krylov_.restart();
        progress_ = krylov_.wait();
        return progress_.residual / norm_;
    }

    Krylov<Value>& krylov_;
    const SolverOptions& options_;
    KrylovProgress progress_;
    double norm_of_b_;
    double norm_ = 1;
};

}  // namespace workbench
