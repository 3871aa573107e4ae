#include "pipeline/solve/solve.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "pipeline/contract/errors.hpp"

namespace workbench {
namespace {

/// The true residual may exceed the tolerance by so much: rounding in the recurrence is not worth a restart.
constexpr double slack = 1.01;
/// What a restart must bring to be worth another one.
constexpr double progress_of_restart = 0.5;
/// What counts as a smaller residual.
constexpr double progress_of_iterations = 0.99;

double norm(std::span<const double> vector) {
    double sum = 0;
    for (const double value : vector) sum += value * value;
    return std::sqrt(sum);
}

/// One solve as it goes on.
template <ValueType Value>
class Course {
public:
    Course(const System<Value>& system, Multiplier<Value>& multiplier, Device& device, const SolveOptions& options)
        : system_(system), multiplier_(multiplier), device_(device), options_(options) {}

    SolveOutcome run() {
        outcome_.preparation = multiplier_.preparation();
        begin();
        while (!ended_) {
            const std::int64_t left = options_.most_iterations - progress_.iterations;
            const std::int64_t next = std::min(options_.patience, left);
            outcome_.solve_seconds += device_.time([&] { krylov_->launch(next); });
            progress_ = krylov_->wait();
            look();
        }
        finish();
        return std::move(outcome_);
    }

private:
    void begin() {
        const Stopwatch watch(options_.timing.clock);
        const std::vector<Value> b = system_.b_in(multiplier_.order());
        const std::vector<Value> inverse =
            options_.jacobi ? system_.inverse_diagonal_in(multiplier_.order()) : std::vector<Value>();
        const KrylovPlan plan{options_.method, options_.tolerance * system_.norm_of_b(), options_.most_iterations};
        krylov_ = device_.make_krylov(plan, std::span<const Value>(b), std::span<const Value>(inverse));
        if (krylov_ == nullptr) throw MachineError(device_.properties().name + ": no solver for this device");
        krylov_->use([this](const Value* x, Value* y) { multiplier_.multiply(x, y); });
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
                           fmt::format("not positive definite{}: p.Ap or r.Mr is {:.3g} after {} iterations; bicgstab takes "
                                       "such matrices",
                                       options_.jacobi ? " (the matrix, or its diagonal)" : "", progress_.divisor,
                                       progress_.iterations));
            case KrylovState::breakdown: return look_at_breakdown();
        }
    }

    void look_at_running() {
        // Not counting |b|: on ill-conditioned matrices the residual rises before it falls.
        const std::vector<double> history = krylov_->history();
        const auto first = history.begin() + 1;
        const auto begin_of_last = history.end() - std::min<std::ptrdiff_t>(options_.patience, history.end() - first);
        const double before =
            begin_of_last == first ? std::numeric_limits<double>::infinity() : *std::min_element(first, begin_of_last);
        const double last = *std::min_element(begin_of_last, history.end());
        if (progress_.iterations >= options_.most_iterations) {
            end(SolveEnd::iteration_limit,
                fmt::format("{} iterations were not enough for {:.3g}", progress_.iterations, options_.tolerance));
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
            return end(SolveEnd::breakdown,
                       fmt::format("{} after {} iterations and {} restarts", what, progress_.iterations, outcome_.restarts));
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
        for (Index i = 0; i < std::ssize(there); ++i) x[multiplier_.order().old_of_new(i)] = there[i];
        return x;
    }

    void finish() {
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
        outcome_.product_seconds = time_repeatedly(device_, multiplier_.product(), options_.timing).median;
        outcome_.copy_bandwidth = device_.bandwidth().copy;
    }

    const System<Value>& system_;
    Multiplier<Value>& multiplier_;
    Device& device_;
    const SolveOptions& options_;
    std::unique_ptr<Krylov<Value>> krylov_;
    KrylovProgress progress_;
    SolveOutcome outcome_;
    bool ended_ = false;
    double residual_before_ = std::numeric_limits<double>::infinity();       // at the last restart after a breakdown
    double true_residual_before_ = std::numeric_limits<double>::infinity();  // at the last one for want of accuracy
};

}  // namespace

std::string_view name_of(SolveEnd end) {
    switch (end) {
        case SolveEnd::converged: return "converged";
        case SolveEnd::iteration_limit: return "iteration limit";
        case SolveEnd::stagnated: return "stagnated";
        case SolveEnd::indefinite: return "indefinite";
        case SolveEnd::breakdown: return "breakdown";
    }
    return "";
}

std::optional<double> SolveOutcome::over_parts() const {
    if (iterations == 0 || product_seconds <= 0 || copy_bandwidth <= 0) return std::nullopt;
    const double products_of_one = static_cast<double>(products) / static_cast<double>(iterations);
    return iteration_seconds() / (products_of_one * product_seconds + vector_bytes / copy_bandwidth);
}

std::optional<double> crossing(const SolveOutcome& dear, const SolveOutcome& cheap) {
    const double more = dear.setup_seconds() - cheap.setup_seconds();
    const double gain = cheap.iteration_seconds() - dear.iteration_seconds();
    if (more <= 0 || gain <= 0) return std::nullopt;
    return more / gain;
}

std::optional<double> solves_to_pay(const SolveOutcome& dear, const SolveOutcome& cheap) {
    // b and x are brought to the recipe's order and back each time.
    const auto of_each = [](const SolveOutcome& one) { return one.solve_seconds + one.vector_seconds; };
    const double more = dear.preparation.seconds() - cheap.preparation.seconds();
    const double gain = of_each(cheap) - of_each(dear);
    if (more <= 0 || gain <= 0) return std::nullopt;
    return more / gain;
}

template <ValueType Value>
System<Value>::System(const CsrMatrix& input, std::vector<double> b)
    : input_(input), b_(std::move(b)), norm_of_b_(norm(b_)), oracle_(input) {
    if (!input.square()) {
        throw InputError(fmt::format("a system of equations needs a square matrix; this one has {} rows and {} columns",
                                     input.rows, input.columns));
    }
    if (std::ssize(b_) != input.rows) {
        throw InputError(fmt::format("the right-hand side has {} elements, expected {}, as many as the matrix has rows",
                                     b_.size(), input.rows));
    }
    if (!std::isfinite(norm_of_b_)) throw InputError("the right-hand side is not finite, or its norm is not");
}

template <ValueType Value>
std::vector<Value> System<Value>::b_in(const Permutation& order) const {
    std::vector<Value> there(b_.size());
    for (Index i = 0; i < order.size(); ++i) there[i] = static_cast<Value>(b_[order.old_of_new(i)]);
    return there;
}

template <ValueType Value>
std::vector<Value> System<Value>::inverse_diagonal_in(const Permutation& order) const {
    std::vector<Value> inverse(b_.size(), Value{1});
    for (Index i = 0; i < order.size(); ++i) {
        const Index row = order.old_of_new(i);
        const std::span<const Index> columns = input_.row_columns(row);
        const auto found = std::lower_bound(columns.begin(), columns.end(), row);
        if (found == columns.end() || *found != row) continue;
        const double diagonal = input_.values[input_.row_offsets[row] + (found - columns.begin())];
        if (diagonal != 0) inverse[i] = static_cast<Value>(1 / diagonal);
    }
    return inverse;
}

template <ValueType Value>
double System<Value>::true_residual(std::span<const double> x) const {
    double sum = 0;
    Kokkos::parallel_reduce(
        "true residual", Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<Index>>(0, input_.rows),
        [&](Index row, double& squares) {
            double r = b_[row];
            for (Offset k = input_.row_offsets[row]; k < input_.row_offsets[row + 1]; ++k) {
                r -= input_.values[k] * x[input_.column_indices[k]];
            }
            squares += r * r;
        },
        sum);
    return std::sqrt(sum) / (norm_of_b_ > 0 ? norm_of_b_ : 1);
}

template <ValueType Value>
SolveOutcome solve(const System<Value>& system, Multiplier<Value>& multiplier, Device& device, const SolveOptions& options) {
    return Course<Value>(system, multiplier, device, options).run();
}

template class System<float>;
template class System<double>;
template SolveOutcome solve(const System<float>&, Multiplier<float>&, Device&, const SolveOptions&);
template SolveOutcome solve(const System<double>&, Multiplier<double>&, Device&, const SolveOptions&);

}  // namespace workbench
