// One Krylov solve: runs the iterations, restarts where that helps, and decides how the solve ends.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/contract/solve_rules.hpp"
#include "core/contract/solvers.hpp"
#include "studies/solve/solve.hpp"

namespace workbench {

/// Solves with one multiplier; a derived class may replace it between iterations.
template <ValueType Value>
class IterativeSolve {
public:
    IterativeSolve(const System<Value>& system, Multiplier<Value>& multiplier, Device& device, const SolveOptions& options)
        : system_(system),
          multiplier_(&multiplier),
          device_(device),
          options_(options),
          rules_(options.tolerance, system.norm_of_b(), options.most_iterations, options.patience) {}
    IterativeSolve(const IterativeSolve&) = delete;
    IterativeSolve& operator=(const IterativeSolve&) = delete;
    virtual ~IterativeSolve() = default;

    SolveOutcome run() {
        outcome_.preparation = multiplier_->preparation();
        begin();
        outcome_.preparation.build_seconds += multiplier_->persistent_seconds();
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
        PersistentSolver<Value>* const persistent = persistent_solver();
        const Stopwatch watch(options_.timing.clock);
        const std::vector<Value> b = system_.b_in(multiplier_->order());
        const std::vector<Value> inverse =
            options_.jacobi ? system_.inverse_diagonal_in(multiplier_->order()) : std::vector<Value>();
        const KrylovPlan plan{options_.method, options_.tolerance * system_.norm_of_b(), options_.most_iterations};
        if (persistent != nullptr) {
            krylov_ = persistent->begin(plan, std::span<const Value>(b), std::span<const Value>(inverse));
            outcome_.engine = SolveEngine::persistent;
            if (multiplier_->rounds()) krylov_->use([this](const Value* x, Value* y) { multiply(x, y); });
        }
        if (persistent == nullptr || options_.engine == SolveEngine::automatic) {
            auto graph = make_krylov<Value>(device_, plan, b, inverse);
            if (graph == nullptr) throw MachineError(device_.properties().name + ": this device has no Krylov solver");
            graph->use([this](const Value* x, Value* y) { multiply(x, y); });
            graph->launch(0);  // the first launch records the CUDA graph, which is not an iteration's time
            if (krylov_ == nullptr) {
                krylov_ = std::move(graph);
            } else {
                keep_faster(std::move(graph));
            }
        }
        progress_ = krylov_->wait();
        outcome_.vector_seconds = watch.seconds() - outcome_.solve_seconds;
    }

    /// Null: the graph runs the iterations.
    [[nodiscard]] PersistentSolver<Value>* persistent_solver() {
        const bool wanted = options_.engine == SolveEngine::persistent;
        const bool possible = device_.properties().kind == DeviceKind::gpu;
        if (!wanted && !(possible && options_.engine == SolveEngine::automatic)) return nullptr;
        try {
            return &multiplier_->persistent(options_.method, options_.jacobi);
        } catch (const Unsuitable& reason) {
            if (wanted) {
                throw InputError(fmt::format("{}: --engine persistent: {}", outcome_.preparation.recipe, reason.what()));
            }
            outcome_.preparation.notes.push_back(fmt::format("no persistent kernel: {}", reason.what()));
            return nullptr;
        }
    }

    /// Both engines do the first iterations; the solve goes on with the faster one, whose time counts.
    void keep_faster(std::unique_ptr<Krylov<Value>> graph) {
        constexpr std::int64_t trial = 32;
        const std::int64_t iterations = std::min({trial, options_.patience, options_.most_iterations});
        const double of_persistent = device_.time([&] { krylov_->launch(iterations); });
        const double of_graph = device_.time([&] { graph->launch(iterations); });
        outcome_.solve_seconds = std::min(of_persistent, of_graph);
        if (of_persistent <= of_graph) return;
        krylov_ = std::move(graph);
        outcome_.engine = SolveEngine::graph;
    }

    /// The product of an iteration or of a restart.
    virtual void multiply(const Value* x, Value* y) { multiplier_->multiply(x, y); }

    void end(SolveEnd how, std::string reason = "") {
        ended_ = true;
        outcome_.end = how;
        outcome_.reason = std::move(reason);
    }

    virtual void check_progress() {
        const auto found = rules_.end(
            progress_, [&] { return krylov_->history(); }, [&] { return system_.true_residual(x_of_input()); });
        if (found) return end(found->how, reason_text(*found, progress_, options_, precision_of<Value>, outcome_.restarts));
        if (progress_.state != KrylovState::running) restart();
    }

    virtual void restart() {
        ++outcome_.restarts;
        outcome_.solve_seconds += device_.time([&] { krylov_->restart(); });
        progress_ = krylov_->wait();
    }

    std::vector<double> x_of_input() {
        const std::vector<Value> reordered = krylov_->x();
        std::vector<double> x(reordered.size());
        for (Index i = 0; i < std::ssize(reordered); ++i) x[multiplier_->order().old_of_new(i)] = reordered[i];
        return x;
    }

    virtual void finish() {
        const double norm_of_b = system_.norm_of_b() > 0 ? system_.norm_of_b() : 1;
        outcome_.iterations = progress_.iterations;
        outcome_.products = (options_.method == KrylovMethod::cg ? 1 : 2) * progress_.iterations + outcome_.restarts;
        outcome_.residual = progress_.residual / norm_of_b;
        outcome_.history = krylov_->history();
        for (double& residual : outcome_.history) residual /= norm_of_b;
        outcome_.vector_bytes = static_cast<double>(krylov_->vector_bytes());
        const Stopwatch watch(options_.timing.clock);
        outcome_.x = x_of_input();
        outcome_.vector_seconds += watch.seconds();
        outcome_.true_residual = system_.true_residual(outcome_.x);
        krylov_.reset();  // frees its memory before the bandwidth is measured
        outcome_.copy_bandwidth = device_.bandwidth().copy;
    }

    virtual void time_product() {
        if (options_.timing.minimum_samples == 0) return;
        const Timing timing = multiplier_->time_product(options_.timing);
        if (timing.fault.empty()) {
            outcome_.product_seconds = timing.median;
            return;
        }
        outcome_.preparation.kernel.status = KernelOutcome::Status::wrong;
        outcome_.preparation.kernel.reason = timing.fault;
    }

    const System<Value>& system_;
    Multiplier<Value>* multiplier_;  // the one in use
    Device& device_;
    const SolveOptions& options_;
    std::unique_ptr<Krylov<Value>> krylov_;
    KrylovProgress progress_;
    SolveOutcome outcome_;
    bool ended_ = false;
    SolveRules rules_;
};

}  // namespace workbench
