#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/contract/solvers.hpp"
#include "frontends/library/applied.hpp"
#include "frontends/library/loaded_once.hpp"
#include "frontends/library/solve_course.hpp"
#include "frontends/library/solved_together.hpp"
#include "kernels/host/host_device.hpp"
#include "pipeline/measure/verification.hpp"
#include "pipeline/solving/solve_range.hpp"

namespace spmv_workbench {
namespace {

using workbench::for_caller;

void require_square(const auto& matrix) {
    if (matrix.rows == matrix.columns) return;
    throw MatrixError("the matrix: " + std::to_string(matrix.rows) + " rows and " + std::to_string(matrix.columns) +
                      " columns; a solver needs as many of each");
}

}  // namespace

template <typename Value>
struct __attribute__((visibility("hidden"))) Solver<Value>::State {
    template <typename Matrix>
    State(const Recipe& recipe, const Matrix& matrix, const SolverOptions& chosen)
        : options((require_square(matrix), workbench::require_right(chosen), chosen)) {
        const double process_seconds = load(recipe, matrix);
        a.applied_ =
            workbench::make_applied<typename Operator<Value>::Applied>(recipe.checked_, matrix, options.recipe, wish());
        make_krylov();
        a.applied_->recipe->add_process_seconds(process_seconds);
    }

    /// Solves with a leading part of the matrix by each engine that may be chosen, once in a process. Returns the seconds.
    template <typename Matrix>
    [[nodiscard]] double load(const Recipe& recipe, const Matrix& matrix) const {
        double seconds = 0;
        for (const Engine engine : {Engine::graph, Engine::persistent}) {
            if (options.engine != engine && options.engine != Engine::automatic) continue;
            SolverOptions of_part = options;
            of_part.engine = engine;
            of_part.most_iterations = 20;
            of_part.recipe = workbench::for_leading_part(options.recipe);
            const std::string purpose = "solver " + std::to_string(static_cast<int>(engine)) +
                                        std::to_string(static_cast<int>(options.method)) +
                                        std::to_string(static_cast<int>(options.preconditioner));
            seconds +=
                workbench::load_once<Value>(recipe.checked_->recipe, matrix, options.recipe, purpose, [&](const Matrix& part) {
                    Solver small(recipe, part, of_part);
                    const std::vector<Value> b(static_cast<std::size_t>(part.rows), 1);
                    std::vector<Value> x(b.size());
                    (void)small.solve(b, x);
                });
        }
        return seconds;
    }

    [[nodiscard]] bool vectors_are_on_host() const { return recipe().on_host() || precondition; }

    /// Makes the solver for the current preconditioner.
    void make_krylov() {
        for_caller([&] {
            const workbench::KokkosTurn turn;
            host = vectors_are_on_host() && !recipe().on_host() ? workbench::make_host_device() : nullptr;
            krylov.reset();
            workbench::PersistentSolver<Value>* const engine = precondition ? nullptr : recipe().persistent();
            is_persistent = engine != nullptr;
            workbench::KrylovPlan plan{.method = wish().method,
                                       .most_iterations = options.most_iterations,
                                       .size = recipe().facts().rows,
                                       .preconditioned = !precondition && !a.applied_->inverse_diagonal.empty()};
            if (precondition) {
                r_of_caller.resize(rows());
                z_of_caller.resize(rows());
                plan.precondition = [this](const void* r, void* z) {
                    permute(static_cast<const Value*>(r), r_of_caller.data(), workbench::VectorOrder::caller);
                    functions.call([&] { precondition(r_of_caller, z_of_caller); });
                    permute(z_of_caller.data(), static_cast<Value*>(z), workbench::VectorOrder::recipe);
                };
            }
            if (is_persistent) {
                krylov = engine->begin(plan, {}, {});
            } else {
                krylov = workbench::make_krylov<Value>(host == nullptr ? recipe().device() : *host, plan, {}, {});
            }
            a.applied_->is_diagonal_new = plan.preconditioned;
            use_product();
        });
    }

    /// b and x: in the memory of the vectors. Call it within functions.run, while holding a KokkosTurn.
    SolveFacts solve(const Value* b, Value* x, const SolveCourse<Value>& given) {
        const workbench::Stopwatch watch;
        if (is_persistent && recipe().persistent() == nullptr) make_krylov();
        if (recipe().preparations() != preparations) use_product();
        renew_diagonal();
        permute(b, krylov->right_hand_side(), workbench::VectorOrder::recipe);
        workbench::OneCourse<Value> course(*krylov, options);
        const double norm = course.norm_of_b();
        if (!(norm > 0) || !reason_against(range_of(norm, norm)).empty()) {
            require_range(on_host(krylov->right_hand_side()), false);
        }
        if (given.from_x && norm > 0) {
            permute(x, krylov->solution(), workbench::VectorOrder::recipe);
            krylov->restart();
        }
        std::function<void(std::int64_t, double)> each_iteration;
        if (given.each_iteration) {
            each_iteration = [&](std::int64_t iterations, double residual) {
                copy_x_to_caller();
                functions.call([&] { given.each_iteration(iterations, residual, x_of_caller); });
            };
        }
        SolveFacts facts = course.run(stop_function(), each_iteration);
        if (facts.end != SolveEnd::converged) require_range(on_host(krylov->right_hand_side()), true);
        // Waits, because arrays of the caller may be used on any stream.
        (void)recipe().device().time([&] { permute(krylov->solution(), x, workbench::VectorOrder::caller); });
        facts.seconds = watch.seconds();
        if (is_persistent) facts.engine = Engine::persistent;
        return facts;
    }

    /// Likewise with b and x of a host, and vectors on a GPU.
    SolveFacts solve_from_host(ArrayView<const Value> b, ArrayView<Value> x, const SolveCourse<Value>& course) {
        workbench::Device& device = recipe().device();
        if (b_from_host.bytes() == 0) b_from_host = device.allocate(rows() * sizeof(Value), "b of the host");
        allocate_x_for_host();
        device.upload(std::as_bytes(std::span(b.data(), rows())), b_from_host);
        if (course.from_x) device.upload(std::as_bytes(std::span(x.data(), rows())), x_for_host);
        auto* const x_there = x_for_host.template as<Value>();
        const SolveFacts facts = solve(b_from_host.template as<const Value>(), x_there, course);
        device.download(x_for_host, std::as_writable_bytes(std::span(x.data(), rows())));
        return facts;
    }

    /// Likewise with b and x on a GPU, and vectors on the host.
    SolveFacts solve_from_gpu(DeviceArray<const Value> b, DeviceArray<Value> x, const SolveCourse<Value>& course) {
        workbench::Device& device = recipe().device();
        std::vector<Value> b_here(rows());
        std::vector<Value> x_here(rows());
        workbench::copy_from_device(device, b.address(), std::span(b_here));
        workbench::copy_from_device(device, static_cast<const Value*>(x.address()), std::span(x_here));
        const SolveFacts facts = solve(b_here.data(), x_here.data(), course);
        workbench::DeviceMemory there(x.address(), rows() * sizeof(Value), [](void*) {});
        device.upload(std::as_bytes(std::span(x_here)), there);
        return facts;
    }

    /// True if several right-hand sides advance together.
    [[nodiscard]] bool solves_together() const {
        return wish().method == workbench::KrylovMethod::cg && !precondition && !is_persistent && !recipe().is_only_there();
    }

    /// Solves for several right-hand sides [rows x count] together, which are in the memory of the operator. Call it within
    /// functions.run, while holding a KokkosTurn.
    std::vector<SolveFacts> solve_together(const Value* b, Value* x, int count, bool from_x) {
        const workbench::Stopwatch watch;
        const std::span<const Value> diagonal = a.applied_->inverse_diagonal;
        if (together == nullptr || together->count() != count) {
            together.reset();
            together = std::make_unique<workbench::SolvedTogether<Value>>(
                recipe(),
                workbench::SeveralPlan<Value>{recipe().facts().rows, count, options.most_iterations, !diagonal.empty()});
        }
        const std::vector<double> norms = together->begin(b, diagonal, options.tolerance);
        std::vector<workbench::SolveRules> rules;
        for (int j = 0; j < count; ++j) {
            if (!(norms[j] > 0) || !reason_against(range_of(norms[j], norms[j])).empty()) {
                require_range(together->right_hand_side(j), false);
            }
            rules.emplace_back(options.tolerance, norms[j], options.most_iterations, options.patience);
        }
        if (from_x) begin_together_from(x, norms);
        const std::vector<workbench::OneOfSeveral> solves = together->run(rules, stop_function());
        std::vector<SolveFacts> facts;
        for (int j = 0; j < count; ++j) {
            const auto& [progress, end, restarts] = solves[j];
            if (end->how != workbench::SolveEnd::converged) require_range(together->right_hand_side(j), true);
            facts.push_back({static_cast<SolveEnd>(end->how), progress.iterations, progress.residual});
        }
        (void)recipe().device().time([&] { together->copy_x(x); });  // waits, as above
        for (SolveFacts& one : facts) {
            one.seconds = watch.seconds();
            one.together = count;
        }
        return facts;
    }

    /// Likewise with arrays of the host.
    std::vector<SolveFacts> solve_together_from_host(ArrayView<const Value> b, ArrayView<Value> x, int count, bool from_x) {
        if (recipe().on_host()) return solve_together(b.data(), x.data(), count, from_x);
        workbench::Device& device = recipe().device();
        const workbench::DeviceMemory b_there = workbench::to_device(device, std::span(b.data(), b.size()), "B");
        workbench::DeviceMemory x_there = device.allocate(x.size() * sizeof(Value), "X");
        if (from_x) device.upload(std::as_bytes(std::span(x.data(), x.size())), x_there);
        std::vector<SolveFacts> facts =
            solve_together(b_there.template as<const Value>(), x_there.template as<Value>(), count, from_x);
        device.download(x_there, std::as_writable_bytes(std::span(x.data(), x.size())));
        return facts;
    }

    /// Solves for right-hand sides in the memory of the GPU one after another. solve(b, x): for one, with arrays there.
    template <typename Solve>
    std::vector<SolveFacts> solve_in_turn(const Value* b, Value* x, int count, bool from_x, const Solve& solve) {
        workbench::Device& device = recipe().device();
        const std::size_t size = rows() * static_cast<std::size_t>(count);
        std::vector<workbench::Index> to_columns(size);  // the place of each element of B, column by column
        for (std::size_t i = 0; i < size; ++i) {
            to_columns[i] = static_cast<workbench::Index>(i % count * rows() + i / count);
        }
        std::vector<workbench::Index> to_rows(size);
        for (std::size_t i = 0; i < size; ++i) to_rows[to_columns[i]] = static_cast<workbench::Index>(i);
        const auto elements = static_cast<workbench::Index>(size);
        const workbench::DeviceMemory own_b = device.allocate(size * sizeof(Value), "B, column by column");
        const workbench::DeviceMemory own_x = device.allocate(size * sizeof(Value), "X, column by column");
        const auto places = [&](const std::vector<workbench::Index>& order) {
            return workbench::to_device(device, std::span(order), "the order of several vectors");
        };
        const workbench::DeviceMemory columns_there = places(to_columns);
        const workbench::DeviceMemory rows_there = places(to_rows);
        const auto* const columns = columns_there.template as<const workbench::Index>();
        auto* const b_columns = own_b.template as<Value>();
        auto* const x_columns = own_x.template as<Value>();
        device.scatter(b, columns, elements, b_columns);
        if (from_x) device.scatter(x, columns, elements, x_columns);
        std::vector<SolveFacts> facts;
        for (int j = 0; j < count; ++j) {
            facts.push_back(
                solve(on_device<const Value>(b_columns + j * rows(), rows()), on_device(x_columns + j * rows(), rows())));
        }
        (void)device.time([&] { device.scatter(x_columns, rows_there.template as<const workbench::Index>(), elements, x); });
        return facts;
    }

    SolverOptions options;
    Operator<Value> a;
    PreconditionerFunction<Value> precondition;  // empty: that of the options
    workbench::CallerFunctions functions;

private:
    /// Continues from this X, whose columns are 0 where those of B are.
    void begin_together_from(const Value* x, const std::vector<double>& norms) {
        const std::size_t count = norms.size();
        if (std::all_of(norms.begin(), norms.end(), [](double norm) { return norm > 0; })) return together->begin_from(x);
        std::vector<Value> begin(rows() * count);
        workbench::copy_from_device(recipe().device(), x, std::span(begin));
        for (std::size_t i = 0; i < begin.size(); ++i) {
            if (!(norms[i % count] > 0)) begin[i] = 0;
        }
        const workbench::DeviceMemory there =
            workbench::to_device(recipe().device(), std::span<const Value>(begin), "X to begin with");
        together->begin_from(there.template as<const Value>());
    }

    [[nodiscard]] workbench::EngineWish wish() const {
        using workbench::SolveEngine;
        const bool is_cg = options.method == Method::conjugate_gradients;
        return {.engine = options.engine == Engine::graph        ? SolveEngine::graph
                          : options.engine == Engine::persistent ? SolveEngine::persistent
                                                                 : SolveEngine::automatic,
                .method = is_cg ? workbench::KrylovMethod::cg : workbench::KrylovMethod::bicgstab,
                .jacobi = options.preconditioner == Preconditioner::jacobi,
                .iterations = options.expected_iterations > 0 ? options.expected_iterations : options.most_iterations};
    }

    [[nodiscard]] workbench::SolveRange range_of(double norm_of_b, double largest_of_b) const {
        return {.method = wish().method,
                .jacobi = wish().jacobi,
                .tolerance = options.tolerance,
                .precision = workbench::precision_of<Value>,
                .norm_of_b = norm_of_b,
                .largest_of_b = largest_of_b};
    }

    /// Empty if the caller does not stop solves.
    [[nodiscard]] std::function<void()> stop_function() {
        if (!options.recipe.stop) return {};
        return [this] {
            if (functions.call(options.recipe.stop)) throw Stopped("the caller stopped the solve");
        };
    }

    /// Throws InputError if the solve with b leaves its range of numbers. with_matrix: multiplies once, to estimate the
    /// magnitude of the matrix, which may be on the GPU.
    void require_range(const std::vector<double>& b, bool with_matrix) {
        const double largest_of_b = workbench::largest_magnitude(b);
        if (!std::isfinite(largest_of_b)) return;  // of a GPU array; ends as a breakdown
        workbench::SolveRange range = range_of(workbench::norm_of(b), largest_of_b);
        if (with_matrix) range.largest_of_matrix = magnitude_of_matrix();
        if (const std::string reason = reason_against(range); !reason.empty()) throw workbench::InputError(reason);
    }

    [[nodiscard]] double magnitude_of_matrix() {
        const std::vector<double> numbers = workbench::real_vector(recipe().facts().rows, 1);
        const std::vector<Value> x(numbers.begin(), numbers.end());
        std::vector<Value> y(x.size());
        recipe().run_from_host(x, y, workbench::VectorOrder::recipe, false);
        return workbench::largest_magnitude(std::vector<double>(y.begin(), y.end()));
    }

    [[nodiscard]] std::vector<double> on_host(const Value* vector) {
        std::vector<Value> copy(rows());
        workbench::copy_from_device(host == nullptr ? recipe().device() : *host, vector, std::span(copy));
        return {copy.begin(), copy.end()};
    }

    [[nodiscard]] workbench::AppliedRecipe<Value>& recipe() const { return *a.applied_->recipe; }
    [[nodiscard]] std::size_t rows() const { return static_cast<std::size_t>(recipe().facts().rows); }

    /// For a persistent solve, the product of restarts: so the true residual is that of the verified kernel.
    void multiply(const Value* x, Value* y) {
        const auto order = is_persistent ? workbench::VectorOrder::caller : workbench::VectorOrder::recipe;
        if (host == nullptr) return recipe().run(x, y, order, false);
        recipe().run_from_host(std::span(x, rows()), std::span(y, rows()), workbench::VectorOrder::recipe, false);
    }

    /// Has the solver multiply with the kernel that the operator has now; a graph has the addresses of its arrays.
    void use_product() {
        preparations = recipe().preparations();
        krylov->use([this](const Value* x, Value* y) { multiply(x, y); });
    }

    /// Permutes a vector into this order, in the memory of the vectors. Those of a persistent solve are in the caller's order.
    void permute(const Value* from, Value* to, workbench::VectorOrder order) {
        if (is_persistent) return recipe().copy(from, to);
        if (host == nullptr) return recipe().permute(from, to, order);
        const workbench::Permutation& columns = recipe().column_order();
        const auto target = order == workbench::VectorOrder::recipe ? columns.new_of_old() : columns.old_of_new();
        host->scatter(from, target.data(), recipe().facts().rows, to);
    }

    /// Brings the diagonal of new values to the solver.
    void renew_diagonal() {
        Value* const there = krylov->inverse_diagonal();
        if (there == nullptr || !a.applied_->is_diagonal_new) return;
        const std::span<const Value> diagonal = a.applied_->inverse_diagonal;
        if (recipe().on_host()) {
            permute(diagonal.data(), there, workbench::VectorOrder::recipe);
        } else {
            const workbench::DeviceMemory copy = workbench::to_device(recipe().device(), diagonal, "the diagonal");
            permute(copy.template as<const Value>(), there, workbench::VectorOrder::recipe);
        }
        a.applied_->is_diagonal_new = false;
    }

    void allocate_x_for_host() {
        if (x_for_host.bytes() == 0) x_for_host = recipe().device().allocate(rows() * sizeof(Value), "x of the host");
    }

    void copy_x_to_caller() {
        x_of_caller.resize(rows());
        if (vectors_are_on_host()) return permute(krylov->solution(), x_of_caller.data(), workbench::VectorOrder::caller);
        if (x_now.bytes() == 0) x_now = recipe().device().allocate(rows() * sizeof(Value), "x of an iteration");
        permute(krylov->solution(), x_now.template as<Value>(), workbench::VectorOrder::caller);
        recipe().device().download(x_now, std::as_writable_bytes(std::span(x_of_caller)));
    }

    std::unique_ptr<workbench::Device> host;  // of the vectors, if the operator is not there
    std::unique_ptr<workbench::Krylov<Value>> krylov;
    std::unique_ptr<workbench::SolvedTogether<Value>> together;  // for the last number of several right-hand sides
    std::int64_t preparations = 0;                               // of the product that krylov uses
    bool is_persistent = false;                                  // the engine of krylov
    std::vector<Value> r_of_caller, z_of_caller, x_of_caller;    // arguments of the caller's functions
    workbench::DeviceMemory b_from_host, x_for_host, x_now;      // on a GPU; allocated on first use
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
SolveFacts Solver<Value>::solve(ArrayView<const Value> b, ArrayView<Value> x, const SolveCourse<Value>& course) {
    const auto rows = static_cast<std::size_t>(state().a.facts().rows);
    workbench::require_size("b", b.size(), rows);
    workbench::require_size("x", x.size(), rows);
    workbench::require_apart(b.data(), rows * sizeof(Value), x.data(), rows * sizeof(Value), "b and x");
    workbench::require_finite("b", b);
    if (course.from_x) workbench::require_finite<Value>("x", {x.data(), rows});
    return state().functions.run([&] {
        const workbench::KokkosTurn turn;
        return state().vectors_are_on_host() ? state().solve(b.data(), x.data(), course)
                                             : state().solve_from_host(b, x, course);
    });
}

template <typename Value>
SolveFacts Solver<Value>::solve(DeviceArray<const Value> b, DeviceArray<Value> x, const SolveCourse<Value>& course) {
    const OperatorFacts& facts = state().a.facts();
    if (facts.device != Device::gpu) throw std::invalid_argument("a GPU array was passed to a solver on the host");
    const auto rows = static_cast<std::size_t>(facts.rows);
    workbench::require_size("b", b.size(), rows);
    workbench::require_size("x", x.size(), rows);
    workbench::require_apart(b.address(), rows * sizeof(Value), x.address(), rows * sizeof(Value), "b and x");
    return state().functions.run([&] {
        if (!state().vectors_are_on_host()) return state().solve(b.address(), x.address(), course);
        const workbench::KokkosTurn turn;
        return state().solve_from_gpu(b, x, course);
    });
}

template <typename Value>
std::vector<SolveFacts> Solver<Value>::solve(ArrayView<const Value> b, ArrayView<Value> x, std::int32_t right_sides,
                                             const SolveCourse<Value>& course) {
    workbench::require_vectors(right_sides);
    if (right_sides == 1) return {solve(b, x, course)};
    const auto rows = static_cast<std::size_t>(state().a.facts().rows);
    const auto count = static_cast<std::size_t>(right_sides);
    workbench::require_size("b", b.size(), rows * count);
    workbench::require_size("x", x.size(), rows * count);
    workbench::require_apart(b.data(), b.size() * sizeof(Value), x.data(), x.size() * sizeof(Value), "b and x");
    workbench::require_finite("b", b, right_sides);
    if (course.from_x) workbench::require_finite<Value>("x", {x.data(), x.size()}, right_sides);
    if (state().solves_together() && !course.each_iteration) {
        return state().functions.run([&] {
            const workbench::KokkosTurn turn;
            return state().solve_together_from_host(b, x, right_sides, course.from_x);
        });
    }
    std::vector<SolveFacts> facts;
    std::vector<Value> own_b(rows);
    std::vector<Value> own_x(rows);
    for (std::size_t j = 0; j < count; ++j) {
        for (std::size_t row = 0; row < rows; ++row) {
            own_b[row] = b.data()[row * count + j];
            own_x[row] = x.data()[row * count + j];
        }
        facts.push_back(solve(own_b, own_x, course));
        for (std::size_t row = 0; row < rows; ++row) x.data()[row * count + j] = own_x[row];
    }
    return facts;
}

template <typename Value>
std::vector<SolveFacts> Solver<Value>::solve(DeviceArray<const Value> b, DeviceArray<Value> x, std::int32_t right_sides,
                                             const SolveCourse<Value>& course) {
    workbench::require_vectors(right_sides);
    if (right_sides == 1) return {solve(b, x, course)};
    const OperatorFacts& facts = state().a.facts();
    if (facts.device != Device::gpu) throw std::invalid_argument("a GPU array was passed to a solver on the host");
    const std::size_t size = static_cast<std::size_t>(facts.rows) * static_cast<std::size_t>(right_sides);
    workbench::require_size("b", b.size(), size);
    workbench::require_size("x", x.size(), size);
    workbench::require_apart(b.address(), size * sizeof(Value), x.address(), size * sizeof(Value), "b and x");
    if (state().solves_together() && !course.each_iteration) {
        return state().functions.run([&] {
            const workbench::KokkosTurn turn;
            return state().solve_together(b.address(), x.address(), right_sides, course.from_x);
        });
    }
    return for_caller([&] {
        return state().solve_in_turn(
            b.address(), x.address(), right_sides, course.from_x,
            [&](DeviceArray<const Value> own_b, DeviceArray<Value> own_x) { return solve(own_b, own_x, course); });
    });
}

template <typename Value>
void Solver<Value>::precondition_by(PreconditionerFunction<Value> function) {
    state().precondition = std::move(function);
    state().make_krylov();
}

template <typename Value>
Operator<Value>& Solver<Value>::matrix() {
    return state().a;
}

template class Solver<float>;
template class Solver<double>;

}  // namespace spmv_workbench
