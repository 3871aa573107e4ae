#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "core/contract/solve_rules.hpp"
#include "core/contract/solvers.hpp"
#include "frontends/library/applied.hpp"

namespace spmv_workbench {
namespace {

using workbench::for_caller;
using workbench::KrylovProgress;
using workbench::KrylovState;

/// One solve: runs the iterations, restarts where that helps, and decides how the solve ends.
template <typename Value>
class Course {
public:
    Course(workbench::Krylov<Value>& krylov, const SolverOptions& options) : krylov_(krylov), options_(options) {}

    SolveFacts run() {
        const double norm = krylov_.begin_again(options_.tolerance);
        limit_ = options_.tolerance * norm;
        progress_ = krylov_.wait();
        while (!end_) {
            decide();
            if (end_) break;
            krylov_.launch(std::min(options_.patience, options_.most_iterations - progress_.iterations));
            progress_ = krylov_.wait();
        }
        const std::int64_t iterations = progress_.iterations;
        if (*end_ != SolveEnd::converged) restart();  // for the true residual
        return {*end_, iterations, norm > 0 ? progress_.residual / norm : progress_.residual};
    }

private:
    void decide() {
        switch (progress_.state) {
            case KrylovState::running: return check_stagnation();
            case KrylovState::converged: return check_true_residual();
            case KrylovState::indefinite: end_ = SolveEnd::indefinite; return;
            case KrylovState::breakdown: return check_breakdown();
        }
    }

    void check_stagnation() {
        if (progress_.iterations >= options_.most_iterations) {
            end_ = SolveEnd::iteration_limit;
            return;
        }
        const std::vector<double> history = krylov_.history();
        const auto least = workbench::solve_rules::least_residuals(history, options_.patience);
        if (least && least->stagnates()) end_ = SolveEnd::stagnated;
    }

    void check_true_residual() {
        restart();
        if (progress_.residual <= workbench::solve_rules::slack * limit_ || progress_.residual == 0) {
            end_ = SolveEnd::converged;
        } else if (!(progress_.residual < workbench::solve_rules::progress_of_restart * true_residual_before_)) {
            end_ = SolveEnd::stagnated;
        }
        true_residual_before_ = progress_.residual;
    }

    void check_breakdown() {
        if (!std::isfinite(progress_.residual) ||
            !(progress_.residual < workbench::solve_rules::progress_of_restart * residual_before_)) {
            end_ = SolveEnd::breakdown;
            return;
        }
        residual_before_ = progress_.residual;
        restart();
    }

    void restart() {
        krylov_.restart();
        progress_ = krylov_.wait();
    }

    workbench::Krylov<Value>& krylov_;
    const SolverOptions& options_;
    KrylovProgress progress_;
    double limit_ = 0;  // |r|
    double true_residual_before_ = std::numeric_limits<double>::infinity();
    double residual_before_ = std::numeric_limits<double>::infinity();
    std::optional<SolveEnd> end_;
};

void require_square(const auto& matrix) {
    if (matrix.rows == matrix.columns) return;
    throw MatrixError("the matrix: " + std::to_string(matrix.rows) + " rows and " + std::to_string(matrix.columns) +
                      " columns; a solver needs as many of each");
}

void require_right(const SolverOptions& options) {
    if (!(options.tolerance > 0)) throw std::invalid_argument("SolverOptions::tolerance: expected a positive number");
    if (options.most_iterations < 1 || options.patience < 1) {
        throw std::invalid_argument("SolverOptions: expected at least 1 for most_iterations and patience");
    }
}

}  // namespace

template <typename Value>
struct __attribute__((visibility("hidden"))) Solver<Value>::State {
    template <typename Matrix>
    State(const Recipe& recipe, const Matrix& matrix, const SolverOptions& chosen)
        : options((require_square(matrix), require_right(chosen), chosen)) {
        a.applied_ = workbench::make_applied<typename Operator<Value>::Applied>(
            recipe.checked_, matrix, options.recipe, options.preconditioner == Preconditioner::jacobi);
        for_caller([&] {
            const workbench::KokkosTurn turn;
            make_krylov();
        });
    }

    /// b and x: in the memory of the operator's device.
    SolveFacts solve(const Value* b, Value* x) {
        const workbench::Stopwatch watch;
        workbench::AppliedRecipe<Value>& recipe = *a.applied_->recipe;
        recipe.permute(b, krylov->right_hand_side(), workbench::VectorOrder::recipe);
        SolveFacts facts = Course<Value>(*krylov, options).run();
        recipe.permute(krylov->solution(), x, workbench::VectorOrder::caller);
        facts.seconds = watch.seconds();
        return facts;
    }

    SolverOptions options;
    Operator<Value> a;
    std::unique_ptr<workbench::Krylov<Value>> krylov;
    workbench::DeviceMemory b_from_host;  // on a GPU; allocated on first use
    workbench::DeviceMemory x_for_host;

private:
    void make_krylov() {
        workbench::AppliedRecipe<Value>& recipe = *a.applied_->recipe;
        const std::vector<Value> zeros(static_cast<std::size_t>(recipe.facts().rows));
        std::vector<Value> inverse(a.applied_->inverse_diagonal.size());
        for (std::size_t i = 0; i < inverse.size(); ++i) {
            inverse[i] = a.applied_->inverse_diagonal[recipe.column_order().old_of_new(static_cast<workbench::Index>(i))];
        }
        const bool is_cg = options.method == Method::conjugate_gradients;
        const workbench::KrylovPlan plan{is_cg ? workbench::KrylovMethod::cg : workbench::KrylovMethod::bicgstab, 0,
                                         options.most_iterations};
        krylov = workbench::make_krylov<Value>(recipe.device(), plan, zeros, inverse);
        krylov->use([&recipe](const Value* x, Value* y) { recipe.run(x, y, workbench::VectorOrder::recipe, false); });
    }
};

template <typename Value>
Solver<Value>::Solver(const Recipe& recipe, const CsrView<Value>& matrix, const SolverOptions& options)
    : state_(std::make_unique<State>(recipe, matrix, options)) {}
template <typename Value>
Solver<Value>::Solver(const Recipe& recipe, const DeviceCsrView<Value>& matrix, const SolverOptions& options)
    : state_(std::make_unique<State>(recipe, matrix, options)) {}

template <typename Value>
Solver<Value>::~Solver() = default;
template <typename Value>
Solver<Value>::Solver(Solver&& other) noexcept = default;
template <typename Value>
Solver<Value>& Solver<Value>::operator=(Solver&& other) noexcept = default;

template <typename Value>
SolveFacts Solver<Value>::solve(ArrayView<const Value> b, ArrayView<Value> x) {
    const auto rows = static_cast<std::size_t>(state_->a.facts().rows);
    workbench::require_size("b", b.size(), rows);
    workbench::require_size("x", x.size(), rows);
    workbench::require_apart(b.data(), rows * sizeof(Value), x.data(), rows * sizeof(Value));
    return for_caller([&] {
        const workbench::KokkosTurn turn;
        workbench::Device& device = state_->a.applied_->recipe->device();
        if (state_->a.facts().device == Device::host) return state_->solve(b.data(), x.data());
        if (state_->b_from_host.bytes() == 0) {
            state_->b_from_host = device.allocate(rows * sizeof(Value), "b of the host");
            state_->x_for_host = device.allocate(rows * sizeof(Value), "x of the host");
        }
        device.upload(std::as_bytes(std::span(b.data(), rows)), state_->b_from_host);
        const SolveFacts facts =
            state_->solve(state_->b_from_host.template as<const Value>(), state_->x_for_host.template as<Value>());
        device.download(state_->x_for_host, std::as_writable_bytes(std::span(x.data(), rows)));
        return facts;
    });
}

template <typename Value>
SolveFacts Solver<Value>::solve(DeviceArray<const Value> b, DeviceArray<Value> x) {
    const OperatorFacts& facts = state_->a.facts();
    if (facts.device != Device::gpu) throw std::invalid_argument("a GPU array was passed to a solver on the host");
    const auto rows = static_cast<std::size_t>(facts.rows);
    workbench::require_size("b", b.size(), rows);
    workbench::require_size("x", x.size(), rows);
    workbench::require_apart(b.address(), rows * sizeof(Value), x.address(), rows * sizeof(Value));
    return for_caller([&] { return state_->solve(b.address(), x.address()); });
}

template <typename Value>
Operator<Value>& Solver<Value>::matrix() {
    return state_->a;
}

template class Solver<float>;
template class Solver<double>;

}  // namespace spmv_workbench
