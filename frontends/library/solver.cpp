#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/contract/solve_range.hpp"
#include "core/contract/solve_rules.hpp"
#include "core/contract/solvers.hpp"
#include "frontends/library/applied.hpp"
#include "pipeline/measure/verification.hpp"

namespace spmv_workbench {
namespace {

using workbench::for_caller;
using workbench::KrylovProgress;
using workbench::KrylovState;

/// One solve: runs the iterations, restarts where that helps, and decides how the solve ends.
template <typename Value>
class Course {
public:
    Course(workbench::Krylov<Value>& krylov, const SolverOptions& options)
        : krylov_(krylov), options_(options), norm_of_b_(krylov.begin_again(options.tolerance)) {
        if (norm_of_b_ > 0) norm_ = norm_of_b_;
    }

    /// As the device computes it: 0 or infinity if squares leave the range of f64.
    [[nodiscard]] double norm_of_b() const { return norm_of_b_; }

    SolveFacts run() {
        workbench::SolveRules rules(options_.tolerance, norm_of_b_, options_.most_iterations, options_.patience);
        progress_ = krylov_.wait();
        std::optional<workbench::EndOfSolve> end;
        while (!(end = check(rules))) {
            krylov_.launch(rules.iterations_until_check(progress_.iterations));
            progress_ = krylov_.wait();
        }
        const std::int64_t iterations = progress_.iterations;
        if (end->how != workbench::SolveEnd::converged) (void)true_residual();
        return {static_cast<SolveEnd>(end->how), iterations, progress_.residual / norm_};
    }

private:
    static_assert(static_cast<int>(SolveEnd::breakdown) == static_cast<int>(workbench::SolveEnd::breakdown));

    std::optional<workbench::EndOfSolve> check(workbench::SolveRules& rules) {
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

    workbench::Krylov<Value>& krylov_;
    const SolverOptions& options_;
    KrylovProgress progress_;
    double norm_of_b_;
    double norm_ = 1;
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
        Course<Value> course(*krylov, options);
        const double norm = course.norm_of_b();
        if (!(norm > 0) || !reason_against(range_of(norm, norm)).empty()) require_range(false);
        SolveFacts facts = course.run();
        if (facts.end != SolveEnd::converged) require_range(true);
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
    [[nodiscard]] workbench::SolveRange range_of(double norm_of_b, double largest_of_b) const {
        const bool is_cg = options.method == Method::conjugate_gradients;
        return {.method = is_cg ? workbench::KrylovMethod::cg : workbench::KrylovMethod::bicgstab,
                .jacobi = options.preconditioner == Preconditioner::jacobi,
                .tolerance = options.tolerance,
                .precision = workbench::precision_of<Value>,
                .norm_of_b = norm_of_b,
                .largest_of_b = largest_of_b};
    }

    /// Throws InputError if the current solve leaves its range of numbers. Copies b to the host. with_matrix: multiplies once,
    /// to estimate the magnitude of the matrix, which may be on the GPU.
    void require_range(bool with_matrix) {
        const std::vector<double> b = on_host(krylov->right_hand_side());
        const double largest_of_b = workbench::largest_magnitude(b);
        if (!std::isfinite(largest_of_b)) return;  // ends as a breakdown
        workbench::SolveRange range = range_of(workbench::norm_of(b), largest_of_b);
        if (with_matrix) range.largest_of_matrix = magnitude_of_matrix();
        if (const std::string reason = reason_against(range); !reason.empty()) throw workbench::InputError(reason);
    }

    [[nodiscard]] double magnitude_of_matrix() {
        workbench::AppliedRecipe<Value>& recipe = *a.applied_->recipe;
        const std::vector<double> numbers = workbench::real_vector(recipe.facts().rows, 1);
        const std::vector<Value> values(numbers.begin(), numbers.end());
        const workbench::DeviceMemory x = workbench::to_device(recipe.device(), std::span<const Value>(values), "x");
        const workbench::DeviceMemory y = recipe.device().allocate(x.bytes(), "y");
        recipe.run(x.as<const Value>(), y.as<Value>(), workbench::VectorOrder::recipe, false);
        return workbench::largest_magnitude(on_host(y.as<const Value>()));
    }

    [[nodiscard]] std::vector<double> on_host(const Value* vector) {
        std::vector<Value> copy(static_cast<std::size_t>(a.facts().rows));
        workbench::copy_from_device(a.applied_->recipe->device(), vector, std::span(copy));
        return {copy.begin(), copy.end()};
    }

    void make_krylov() {
        workbench::AppliedRecipe<Value>& recipe = *a.applied_->recipe;
        const std::vector<Value> zeros(static_cast<std::size_t>(recipe.facts().rows));
        std::vector<Value> inverse(a.applied_->inverse_diagonal.size());
        for (std::size_t i = 0; i < inverse.size(); ++i) {
            inverse[i] = a.applied_->inverse_diagonal[recipe.column_order().old_of_new(static_cast<workbench::Index>(i))];
        }
        const workbench::KrylovPlan plan{range_of(0, 0).method, 0, options.most_iterations};
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
typename Solver<Value>::State& Solver<Value>::state() const {
    if (state_ == nullptr) throw std::invalid_argument("the solver was moved from; expected one that was made or assigned to");
    return *state_;
}

template <typename Value>
SolveFacts Solver<Value>::solve(ArrayView<const Value> b, ArrayView<Value> x) {
    const auto rows = static_cast<std::size_t>(state().a.facts().rows);
    workbench::require_size("b", b.size(), rows);
    workbench::require_size("x", x.size(), rows);
    workbench::require_apart(b.data(), rows * sizeof(Value), x.data(), rows * sizeof(Value));
    return for_caller([&] {
        const workbench::KokkosTurn turn;
        workbench::Device& device = state().a.applied_->recipe->device();
        if (state().a.facts().device == Device::host) return state().solve(b.data(), x.data());
        if (state().b_from_host.bytes() == 0) {
            state().b_from_host = device.allocate(rows * sizeof(Value), "b of the host");
            state().x_for_host = device.allocate(rows * sizeof(Value), "x of the host");
        }
        device.upload(std::as_bytes(std::span(b.data(), rows)), state().b_from_host);
        const SolveFacts facts =
            state().solve(state().b_from_host.template as<const Value>(), state().x_for_host.template as<Value>());
        device.download(state().x_for_host, std::as_writable_bytes(std::span(x.data(), rows)));
        return facts;
    });
}

template <typename Value>
SolveFacts Solver<Value>::solve(DeviceArray<const Value> b, DeviceArray<Value> x) {
    const OperatorFacts& facts = state().a.facts();
    if (facts.device != Device::gpu) throw std::invalid_argument("a GPU array was passed to a solver on the host");
    const auto rows = static_cast<std::size_t>(facts.rows);
    workbench::require_size("b", b.size(), rows);
    workbench::require_size("x", x.size(), rows);
    workbench::require_apart(b.address(), rows * sizeof(Value), x.address(), rows * sizeof(Value));
    return for_caller([&] { return state().solve(b.address(), x.address()); });
}

template <typename Value>
Operator<Value>& Solver<Value>::matrix() {
    return state().a;
}

template class Solver<float>;
template class Solver<double>;

}  // namespace spmv_workbench
