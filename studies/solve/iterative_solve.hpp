// One Krylov solve: runs the iterations, restarts where that helps, and decides how the solve ends.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/matrix/interface.hpp"
#include "pipeline/solving/solve_rules.hpp"
#include "studies/solve/prepared_solver.hpp"

namespace workbench {

/// Times a product outside the solve; one that is wrong makes the kernel of the outcome wrong.
template <ValueType Value>
void time_product(Multiplier<Value>& multiplier, const SolveOptions& options, SolveOutcome& outcome) {
    if (options.timing.minimum_samples == 0) return;
    const Preparation& preparation = multiplier.preparation();
    const auto product = multiplier.checked_product();
    const Contender contender = product->contender(preparation.kernel.kernel, preparation.bytes_to_move);
    const Timing timing = time_in_turns({contender}, options.timing).front();
    if (timing.fault.empty()) {
        outcome.product_seconds = timing.median;
        return;
    }
    outcome.preparation.kernel.status = KernelOutcome::Status::wrong;
    outcome.preparation.kernel.reason = timing.fault;
}

/// One solve with a solver; a derived class may replace the multiplier between iterations.
template <ValueType Value>
class IterativeSolve : public Interface {
public:
    IterativeSolve(PreparedSolver<Value>& solver, const SolveOptions& options)
        : solver_(solver),
          system_(solver.system()),
          multiplier_(&solver.multiplier()),
          device_(solver.device()),
          options_(options),
          rules_(options.tolerance, system_.norm_of_b(), options.most_iterations, options.patience) {}

    SolveOutcome run() {
        outcome_.preparation = multiplier_->preparation();
        if (!solver_.note().empty()) outcome_.preparation.notes.push_back(solver_.note());
        outcome_.engine = solver_.engine();
        outcome_.solver_seconds = solver_.seconds();
        begin();
        check_progress();
        while (!ended_) {
            outcome_.solve_seconds += advance();
            if (options_.poll) options_.poll();
            if (!ended_) check_progress();
        }
        finish();
        time_product();
        return std::move(outcome_);
    }

protected:
    /// Runs until the next check, or until the state is no longer `running`. Returns the seconds.
    virtual double advance() {
        const double seconds = device_.time([&] { krylov_->launch(rules_.iterations_until_check(progress_.iterations)); });
        progress_ = krylov_->wait();
        return seconds;
    }

    void begin() {
        const Stopwatch watch(options_.timing.clock);
        krylov_ = &solver_.begin();
        progress_ = krylov_->wait();
        outcome_.vector_seconds = watch.seconds();
    }

    void end(SolveEnd how, std::string reason = "") {
        ended_ = true;
        outcome_.end = how;
        outcome_.reason = std::move(reason);
    }

    virtual void check_progress() {
        const auto found = rules_.end(
            progress_, [&] { return krylov_->history(); }, [&] { return true_residual(); });
        if (found) {
            const char* const advice = found->how == SolveEnd::indefinite ? "; try bicgstab" : "";
            return end(found->how, reason_text(*found, progress_, options_, precision_of<Value>, outcome_.restarts) + advice);
        }
        if (progress_.state != KrylovState::running) restart();
    }

    virtual void restart() {
        ++outcome_.restarts;
        outcome_.solve_seconds += device_.time([&] { krylov_->restart(); });
        progress_ = krylov_->wait();
    }

    /// The current x in the order of the input; valid until the next call.
    [[nodiscard]] virtual std::span<const Value> x_of_input() { return solver_.x(); }

    [[nodiscard]] double true_residual() {
        const std::span<const Value> x = x_of_input();
        outcome_.x.assign(x.begin(), x.end());
        return system_.true_residual(outcome_.x);
    }

    virtual void finish() {
        const double norm_of_b = system_.norm_of_b() > 0 ? system_.norm_of_b() : 1;
        outcome_.iterations = progress_.iterations;
        outcome_.products = (options_.method == KrylovMethod::cg ? 1 : 2) * progress_.iterations + outcome_.restarts;
        outcome_.residual = progress_.residual / norm_of_b;
        if (!outcome_.tuned) outcome_.product_inside_seconds = summarise(solver_.seconds_of_products()).median;
        outcome_.history = krylov_->history();
        for (double& residual : outcome_.history) residual /= norm_of_b;
        outcome_.vector_bytes = static_cast<double>(krylov_->vector_bytes());
        const Stopwatch watch(options_.timing.clock);
        (void)x_of_input();
        outcome_.vector_seconds += watch.seconds();
        outcome_.true_residual = true_residual();
        outcome_.copy_bandwidth = device_.bandwidth().copy;
    }

    virtual void time_product() { workbench::time_product(*multiplier_, options_, outcome_); }

    PreparedSolver<Value>& solver_;
    const System<Value>& system_;
    Multiplier<Value>* multiplier_;  // the one in use
    Device& device_;
    const SolveOptions& options_;
    Krylov<Value>* krylov_ = nullptr;  // the solver's
    KrylovProgress progress_;
    SolveOutcome outcome_;
    bool ended_ = false;
    SolveRules rules_;
};

}  // namespace workbench
