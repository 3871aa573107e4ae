#include "studies/solve/several_solver.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/contract/solvers.hpp"
#include "studies/solve/iterative_solve.hpp"
#include "studies/solve/prepared_solver.hpp"

namespace workbench {
namespace {

/// NaN if one of them is.
double larger(double a, double b) { return b > a || std::isnan(b) ? b : a; }

}  // namespace

/// The course of run_several, which notes times and products.
template <ValueType Value>
class SeveralSolver<Value>::Course {
public:
    Course(SeveralSolver& solver, const SolveOptions& options, SolveOutcome& outcome)
        : solver_(solver), options_(options), outcome_(outcome) {}

    void launch(std::int64_t iterations) {
        const std::vector<KrylovProgress> before = solver_.krylov_->wait();
        outcome_.solve_seconds += solver_.device_.time([&] { solver_.krylov_->launch(iterations); });
        const std::vector<KrylovProgress> after = solver_.krylov_->wait();
        std::int64_t done = 0;
        for (std::size_t j = 0; j < after.size(); ++j) done = std::max(done, after[j].iterations - before[j].iterations);
        outcome_.iterations += done;
        if (options_.poll) options_.poll();
    }

    void restart(const std::vector<int>& which) {
        outcome_.restarts += static_cast<int>(which.size());
        ++outcome_.products;
        outcome_.solve_seconds += solver_.device_.time([&] { solver_.krylov_->restart(which); });
    }

    [[nodiscard]] std::vector<double> true_residuals(const std::vector<int>& which) {
        (void)solver_.x();
        std::vector<double> residuals;
        for (const int j : which) residuals.push_back(solver_.true_residual(j));
        return residuals;
    }

private:
    SeveralSolver& solver_;
    const SolveOptions& options_;
    SolveOutcome& outcome_;
};

template <ValueType Value>
SeveralSolver<Value>::SeveralSolver(std::vector<const System<Value>*> systems, Multiplier<Value>& multiplier, Device& device,
                                    const SolveOptions& options)
    : systems_(std::move(systems)), multiplier_(multiplier), device_(device), clock_(options.timing.clock) {
    const Stopwatch watch(clock_);
    const auto rows = static_cast<Index>(systems_.front()->b_values().size());
    krylov_ = make_several_krylov<Value>(device, {rows, count(), options.most_iterations, options.jacobi});
    if (krylov_ == nullptr) {
        throw MachineError(device.properties().name + ": this device has no solver for several right-hand sides");
    }
    krylov_->use([this](const Value* x, Value* y) { multiply(x, y); });
    on_host_.resize(elements());
    if (const Permutation& order = multiplier.order(); !order.is_identity()) {
        const auto place = [&](std::span<const Index> rows_there) {
            const std::vector<Index> places = elements_of(rows_there, count());
            return to_device(device, std::span<const Index>(places), "a permutation of several vectors");
        };
        to_recipe_ = place(order.new_of_old());
        to_input_ = place(order.old_of_new());
        there_ = device.allocate(elements() * sizeof(Value), "several vectors in the order of the input");
    }
    if (options.jacobi) bring_diagonal();
    krylov_->launch(0);  // the first launch records the CUDA graph
    (void)krylov_->wait();
    seconds_ = watch.seconds();
}

template <ValueType Value>
void SeveralSolver<Value>::bring_diagonal() {
    std::size_t i = 0;
    for (const Value element : systems_.front()->inverse_diagonal_in(multiplier_.order())) {
        for (int j = 0; j < count(); ++j) on_host_[i++] = element;
    }
    DeviceMemory there(krylov_->inverse_diagonal(), elements() * sizeof(Value), [](void*) {});
    device_.upload(std::as_bytes(std::span(on_host_)), there);
}

template <ValueType Value>
void SeveralSolver<Value>::bring_right_hand_sides() {
    for_pieces(systems_.front()->b_values().size(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) {
            for (int j = 0; j < count(); ++j) on_host_[row * count() + j] = systems_[j]->b_values()[row];
        }
    });
    DeviceMemory there(krylov_->right_hand_sides(), elements() * sizeof(Value), [](void*) {});
    if (to_recipe_.bytes() == 0) return device_.upload(std::as_bytes(std::span(on_host_)), there);
    device_.upload(std::as_bytes(std::span(on_host_)), there_);
    device_.scatter(there_.template as<const Value>(), to_recipe_.as<const Index>(), static_cast<Index>(elements()),
                    there.template as<Value>());
}

template <ValueType Value>
const std::vector<Value>& SeveralSolver<Value>::x() {
    const std::span<std::byte> here = std::as_writable_bytes(std::span(on_host_));
    if (to_input_.bytes() == 0) {
        device_.download({krylov_->solutions(), elements() * sizeof(Value), [](void*) {}}, here);
        return on_host_;
    }
    device_.scatter(krylov_->solutions(), to_input_.as<const Index>(), static_cast<Index>(elements()),
                    there_.template as<Value>());
    device_.download(there_, here);
    return on_host_;
}

/// The true residual of one right-hand side, with the copy of X on the host.
template <ValueType Value>
double SeveralSolver<Value>::true_residual(int which) {
    std::vector<double> x(on_host_.size() / count());
    for (std::size_t row = 0; row < x.size(); ++row) x[row] = on_host_[row * count() + which];
    return systems_[which]->true_residual(x);
}

template <ValueType Value>
void SeveralSolver<Value>::multiply(const Value* x, Value* y) {
    const Stopwatch watch(clock_);
    multiplier_.multiply(x, y);
    if (device_.properties().kind == DeviceKind::host) seconds_of_products_.push_back(watch.seconds());
}

template <ValueType Value>
SolveOutcome SeveralSolver<Value>::solve(const SolveOptions& options) {
    SolveOutcome outcome;
    outcome.preparation = multiplier_.preparation();
    outcome.solver_seconds = seconds_;
    seconds_of_products_.clear();
    const Stopwatch watch(clock_);
    bring_right_hand_sides();
    (void)krylov_->begin_again(options.tolerance);
    outcome.vector_seconds = watch.seconds();
    std::vector<SolveRules> rules;
    for (const System<Value>* const system : systems_) {
        rules.emplace_back(options.tolerance, system->norm_of_b(), options.most_iterations, options.patience);
    }
    Course course(*this, options, outcome);
    finish(run_several(*krylov_, std::move(rules), course), options, outcome);
    time_product(multiplier_, options, outcome);
    return outcome;
}

template <ValueType Value>
void SeveralSolver<Value>::finish(const std::vector<OneOfSeveral>& solves, const SolveOptions& options, SolveOutcome& outcome) {
    outcome.products += outcome.iterations;
    outcome.product_inside_seconds = summarise(seconds_of_products_).median;
    outcome.vector_bytes = static_cast<double>(krylov_->vector_bytes());
    outcome.copy_bandwidth = device_.bandwidth().copy;
    const Stopwatch watch(clock_);
    const std::vector<Value>& x = this->x();
    outcome.vector_seconds += watch.seconds();
    outcome.x.assign(x.begin(), x.end());
    outcome.end = SolveEnd::converged;
    std::vector<double> last;  // of the history of each
    for (int j = 0; j < count(); ++j) {
        const OneOfSeveral& one = solves[j];
        const double norm_of_b = systems_[j]->norm_of_b() > 0 ? systems_[j]->norm_of_b() : 1;
        RightSideOutcome side{.end = one.end->how, .iterations = one.progress.iterations, .restarts = one.restarts};
        side.reason = reason_text(*one.end, one.progress, options, precision_of<Value>, one.restarts);
        side.residual = one.progress.residual / norm_of_b;
        side.true_residual = true_residual(j);
        if (outcome.end == SolveEnd::converged && side.end != SolveEnd::converged) {
            outcome.end = side.end;
            outcome.reason = fmt::format("right-hand side {}: {}", j + 1, side.reason);
        }
        outcome.residual = larger(outcome.residual, side.residual);
        outcome.true_residual = larger(outcome.true_residual, side.true_residual);
        std::vector<double> history = krylov_->history(j);
        for (double& residual : history) residual /= norm_of_b;
        const std::size_t length = std::max(history.size(), outcome.history.size());
        outcome.history.resize(length, last.empty() ? 0 : *std::max_element(last.begin(), last.end()));
        for (std::size_t i = 0; i < length; ++i) {
            outcome.history[i] = larger(outcome.history[i], history[std::min(i, history.size() - 1)]);
        }
        last.push_back(history.back());
        outcome.right_sides.push_back(std::move(side));
    }
}

template <ValueType Value>
void SeveralSolver<Value>::solve_alone(const SolveOptions& given, SolveOutcome& outcome) {
    constexpr double most_seconds = 1;
    SolveOptions options = given;
    options.right_sides = 1;
    options.solves = given.solves * count();
    options.expected_iterations = outcome.iterations;
    options.timing.minimum_samples = 0;
    outcome.alone_kernel = multiplier_.prepare_one();
    double seconds = 0;
    for (const System<Value>* const system : systems_) {
        PreparedSolver<Value> solver(*system, multiplier_, device_, options);
        const SolveOutcome one = workbench::solve(solver, options);
        outcome.alone_engine = solver.engine();
        if (outcome.alone_solves == 0) outcome.alone_solver_seconds = solver.seconds();
        seconds += one.each_seconds();
        ++outcome.alone_solves;
        if (seconds > most_seconds) break;
    }
    outcome.alone_seconds = seconds / outcome.alone_solves;
}

template class SeveralSolver<float>;
template class SeveralSolver<double>;

}  // namespace workbench
