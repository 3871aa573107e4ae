// One solve as it goes on: iterations, and what is to be done where they end.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "pipeline/contract/errors.hpp"
#include "pipeline/solve/solve.hpp"

namespace workbench {

/// The true residual may exceed the tolerance by so much: rounding in the recurrence is not worth a restart.
inline constexpr double slack = 1.1;
/// What a restart must bring to be worth another one.
inline constexpr double progress_of_restart = 0.9;
/// What counts as a smaller residual.
inline constexpr double progress_of_iterations = 0.99;

/// "1 restart", "2 restarts"
inline std::string counted(std::int64_t count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// Begins with a multiplier; a course that tunes goes on with others.
template <ValueType Value>
class Course {
public:
    Course(const System<Value>& system, Multiplier<Value>& multiplier, Device& device, const SolveOptions& options)
        : system_(system), multiplier_(&multiplier), device_(device), options_(options) {}
    Course(const Course&) = delete;
    Course& operator=(const Course&) = delete;
    virtual ~Course() = default;

    SolveOutcome run() {
        outcome_.preparation = multiplier_->preparation();
        begin();
        while (!ended_) {
            outcome_.solve_seconds += advance();
            if (!ended_) look();
        }
        finish();
        time_product();
        return std::move(outcome_);
    }

protected:
    /// Goes on, for `patience` iterations at most or until the state is no longer `running`. Returns the seconds.
    virtual double advance() {
        const std::int64_t left = options_.most_iterations - progress_.iterations;
        const double seconds = device_.time([&] { krylov_->launch(std::min(options_.patience, left)); });
        progress_ = krylov_->wait();
        return seconds;
    }

    void begin() {
        const Stopwatch watch(options_.timing.clock);
        const std::vector<Value> b = system_.b_in(multiplier_->order());
        const std::vector<Value> inverse =
            options_.jacobi ? system_.inverse_diagonal_in(multiplier_->order()) : std::vector<Value>();
        const KrylovPlan plan{options_.method, options_.tolerance * system_.norm_of_b(), options_.most_iterations};
        krylov_ = device_.make_krylov(plan, std::span<const Value>(b), std::span<const Value>(inverse));
        if (krylov_ == nullptr) throw MachineError(device_.properties().name + ": no solver for this device");
        krylov_->use([this](const Value* x, Value* y) { multiplier_->multiply(x, y); });
        krylov_->launch(0);  // what is made by the first launch is made now
        progress_ = krylov_->wait();
        outcome_.vector_seconds = watch.seconds();
    }

    void end(SolveEnd how, std::string reason = "") {
        ended_ = true;
        outcome_.end = how;
        outcome_.reason = std::move(reason);
    }

    void look() {
        switch (progress_.state) {
            case KrylovState::running: return look_at_running();
            case KrylovState::converged: return look_at_converged();
            case KrylovState::indefinite:
                return end(SolveEnd::indefinite,
                           fmt::format("not positive definite{} is {:.3g} after {}; bicgstab takes such matrices",
                                       options_.jacobi ? " (the matrix, or its diagonal): p.Ap or r.Mr" : ": p.Ap",
                                       progress_.divisor, counted(progress_.iterations, "iteration")));
            case KrylovState::breakdown: return look_at_breakdown();
        }
    }

    void look_at_running() {
        // Not counting |b|: on ill-conditioned matrices the residual rises before it falls.
        const std::vector<double> history = krylov_->history();
        const auto first = history.begin() + 1;
        const auto begin_of_last = history.end() - std::min<std::ptrdiff_t>(options_.patience, history.end() - first);
        const bool is_known = begin_of_last - first >= options_.patience;  // as long a stretch before the last one
        const double before = is_known ? *std::min_element(first, begin_of_last) : std::numeric_limits<double>::infinity();
        const double last = *std::min_element(begin_of_last, history.end());
        if (progress_.iterations >= options_.most_iterations) {
            end(SolveEnd::iteration_limit,
                fmt::format("{} {} not enough for {:.3g}", counted(progress_.iterations, "iteration"),
                            progress_.iterations == 1 ? "was" : "were", options_.tolerance));
        } else if (!(last < progress_of_iterations * before)) {
            end(SolveEnd::stagnated, fmt::format("the last {} of {} iterations brought no smaller residual than {:.3g} of |b|",
                                                 options_.patience, progress_.iterations, before / system_.norm_of_b()));
        }
    }

    void look_at_converged() {
        const double residual = system_.true_residual(x_of_input());
        if (residual <= slack * options_.tolerance) return end(SolveEnd::converged);
        if (!(residual < progress_of_restart * true_residual_before_)) {
            return end(SolveEnd::stagnated,
                       fmt::format("the recurrence reached {:.3g}, the true residual stays at {:.3g}: {} holds no better x",
                                   options_.tolerance, residual, name_of(precision_of<Value>)));
        }
        true_residual_before_ = residual;
        restart();
    }

    void look_at_breakdown() {
        const std::string what = std::isfinite(progress_.residual) && std::isfinite(progress_.divisor)
                                     ? fmt::format("a divisor of {} is {:.3g}", name_of(options_.method), progress_.divisor)
                                     : "something is no longer finite";
        if (!std::isfinite(progress_.residual) || !(progress_.residual < progress_of_restart * residual_before_)) {
            return end(SolveEnd::breakdown, fmt::format("{} after {} and {}", what, counted(progress_.iterations, "iteration"),
                                                        counted(outcome_.restarts, "restart")));
        }
        residual_before_ = progress_.residual;
        restart();
    }

    void restart() {
        ++outcome_.restarts;
        outcome_.solve_seconds += device_.time([&] { krylov_->restart(); });
        progress_ = krylov_->wait();
    }

    std::vector<double> x_of_input() {
        const std::vector<Value> there = krylov_->x();
        std::vector<double> x(there.size());
        for (Index i = 0; i < std::ssize(there); ++i) x[multiplier_->order().old_of_new(i)] = there[i];
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
        krylov_.reset();  // its memory is not needed any more
        outcome_.copy_bandwidth = device_.bandwidth().copy;
    }

    virtual void time_product() {
        outcome_.product_seconds = time_repeatedly(device_, multiplier_->product(), options_.timing).median;
    }

    const System<Value>& system_;
    Multiplier<Value>* multiplier_;  // the one that is used at present
    Device& device_;
    const SolveOptions& options_;
    std::unique_ptr<Krylov<Value>> krylov_;
    KrylovProgress progress_;
    SolveOutcome outcome_;
    bool ended_ = false;
    double residual_before_ = std::numeric_limits<double>::infinity();       // at the last restart after a breakdown
    double true_residual_before_ = std::numeric_limits<double>::infinity();  // at the last one for want of accuracy
};

}  // namespace workbench
