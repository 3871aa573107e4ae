// The end of solves that advance together, by the rule for one solve.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/contract/krylov.hpp"
#include "pipeline/solving/solve_rules.hpp"

namespace workbench {

/// One of several solves.
struct OneOfSeveral {
    KrylovProgress progress;
    std::optional<EndOfSolve> end;
    int restarts = 0;
};

/// Runs the solves of a solver that has begun until each has ended: `rules` has the rule of each. The caller's `course` has
///   void launch(std::int64_t iterations), void restart(const std::vector<int>& which): do so with the solver;
///   std::vector<double> true_residuals(const std::vector<int>& which): |b - A x| / |b| of these.
template <ValueType Value, typename Course>
[[nodiscard]] std::vector<OneOfSeveral> run_several(SeveralKrylov<Value>& krylov, std::vector<SolveRules> rules,
                                                    Course& course) {
    const int count = krylov.count();
    std::vector<OneOfSeveral> solves(count);
    while (true) {
        const std::vector<KrylovProgress> progress = krylov.wait();
        std::vector<int> converged;
        for (int j = 0; j < count; ++j) {
            if (!solves[j].end && progress[j].state == KrylovState::converged) converged.push_back(j);
        }
        const std::vector<double> of_converged = converged.empty() ? std::vector<double>() : course.true_residuals(converged);
        std::vector<int> again;
        std::int64_t iterations = 0;  // until the next check
        for (int j = 0; j < count; ++j) {
            OneOfSeveral& one = solves[j];
            if (one.end) continue;
            one.progress = progress[j];
            const auto residual = [&] {
                return of_converged[std::find(converged.begin(), converged.end(), j) - converged.begin()];
            };
            one.end = rules[j].end(
                progress[j], [&] { return krylov.history(j); }, residual);
            const bool is_running = progress[j].state == KrylovState::running;
            if (one.end) {
                if (is_running) krylov.stop(j);
            } else if (is_running) {
                const std::int64_t until_check = rules[j].iterations_until_check(progress[j].iterations);
                iterations = iterations == 0 ? until_check : std::min(iterations, until_check);
            } else {
                again.push_back(j);
                ++one.restarts;
            }
        }
        if (!again.empty()) {
            course.restart(again);
        } else if (iterations > 0) {
            course.launch(iterations);
        } else {
            return solves;
        }
    }
}

}  // namespace workbench
