// The library's solvers on the GPU: engines, new values, and vectors on either side.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gpu/library_matrices.hpp"
#include "kernels/gpu/gpu.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "studies/solve/solve_recipes.hpp"
#include "support/layouts/krylov_problems.hpp"
#include "support/operator_checks.hpp"

namespace workbench {
namespace {

using spmv_workbench::Operator;

/// |b - A x| / |b| in f64.
template <typename Value>
double residual_of(const CsrMatrix& matrix, const std::vector<Value>& x, const std::vector<Value>& b) {
    double residual = 0;
    double norm = 0;
    for (Index row = 0; row < matrix.rows; ++row) {
        double own = static_cast<double>(b[row]);
        norm += own * own;
        for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
            own -= static_cast<double>(static_cast<Value>(matrix.values[k])) * static_cast<double>(x[matrix.column_indices[k]]);
        }
        residual += own * own;
    }
    return std::sqrt(residual / norm);
}

/// The matrix with its columns from the last to the first in each row, as a caller may give it.
template <typename Value>
struct Backwards {
    explicit Backwards(const CsrMatrix& matrix)
        : rows(matrix.rows), offsets(matrix.row_offsets.begin(), matrix.row_offsets.end()) {
        for (Index row = 0; row < rows; ++row) {
            for (Offset k = matrix.row_offsets[row + 1]; k > matrix.row_offsets[row]; --k) {
                columns.push_back(matrix.column_indices[k - 1]);
                values.push_back(static_cast<Value>(matrix.values[k - 1]));
            }
        }
    }
    [[nodiscard]] spmv_workbench::CsrView<Value> view() const { return {rows, rows, offsets, columns, values}; }

    Index rows;
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> columns;
    std::vector<Value> values;
};

/// A first x, a function for each iteration, and a preconditioner that is a function, whose vectors are on the host.
template <typename Value>
void check_course_of_solves(spmv_workbench::Solver<Value>& solver, const std::vector<Value>& b, std::vector<Value> x,
                            std::int64_t iterations) {
    spmv_workbench::SolveCourse<Value> course;
    course.from_x = true;
    CHECK(solver.solve(b, x, course).iterations <= iterations / 4);
    course.from_x = false;
    std::int64_t calls = 0;
    std::vector<Value> last;
    course.each_iteration = [&](std::int64_t number, double, spmv_workbench::ArrayView<const Value> now) {
        CHECK(number == ++calls);
        last.assign(now.begin(), now.end());
    };
    CHECK(solver.solve(b, x, course).iterations == calls);
    CHECK(last == x);
    solver.precondition_by([](spmv_workbench::ArrayView<const Value> r, spmv_workbench::ArrayView<Value> z) {
        for (std::size_t i = 0; i < r.size(); ++i) z[i] = r[i] / 2;
    });
    calls = 0;
    const auto by_function = solver.solve(b, x, course);
    CHECK(by_function.end == spmv_workbench::SolveEnd::converged);
    CHECK(by_function.iterations == calls);
    CHECK(last == x);
}

/// With B and X in the memory of the GPU each solve takes as many iterations as with those of the host (`facts`). Then one
/// after another, because a function is called after each iteration. B has columns that are 0; then X is 0.
template <typename Value>
void check_device_arrays(spmv_workbench::Solver<Value>& solver, const CsrMatrix& matrix, const std::vector<Value>& b,
                         const std::vector<spmv_workbench::SolveFacts>& facts, double tolerance) {
    const auto device = make_cuda_device();
    const auto count = static_cast<std::int32_t>(facts.size());
    const DeviceMemory b_there = to_device(*device, std::span(b), "B");
    const DeviceMemory x_there = to_device(*device, std::span(b), "X");  // of which solves depend only if they begin with it
    const auto b_of_gpu = spmv_workbench::on_device(b_there.template as<const Value>(), b.size());
    const auto x_of_gpu = spmv_workbench::on_device(x_there.template as<Value>(), b.size());
    const auto check_x = [&] {
        std::vector<Value> x(b.size());
        copy_from_device(*device, static_cast<const Value*>(x_there.template as<Value>()), std::span(x));
        for (std::int32_t j = 0; j < count; ++j) {
            const std::vector<Value> own_b = column_of(b, j, count);
            const bool is_zero = std::all_of(own_b.begin(), own_b.end(), [](Value element) { return element == 0; });
            if (is_zero) CHECK(column_of(x, j, count) == own_b);
            else CHECK(residual_of(matrix, column_of(x, j, count), own_b) <= 2 * tolerance);
        }
    };
    const std::vector<spmv_workbench::SolveFacts> there = solver.solve(b_of_gpu, x_of_gpu, count);
    REQUIRE(there.size() == facts.size());
    for (std::int32_t j = 0; j < count; ++j) {
        CHECK(there[j].end == facts[j].end);
        CHECK(there[j].together == count);
        CHECK(std::abs(there[j].iterations - facts[j].iterations) <= 1 + facts[j].iterations / 20);
    }
    check_x();
    spmv_workbench::SolveCourse<Value> course;
    course.from_x = true;
    for (const auto& again : solver.solve(b_of_gpu, x_of_gpu, count, course)) CHECK(again.iterations <= 1);
    check_x();
    std::int64_t calls = 0;
    spmv_workbench::SolveCourse<Value> observed;
    observed.each_iteration = [&](std::int64_t, double, spmv_workbench::ArrayView<const Value>) { ++calls; };
    std::int64_t iterations = 0;
    for (const auto& one : solver.solve(b_of_gpu, x_of_gpu, count, observed)) {
        CHECK(one.together == 1);
        iterations += one.iterations;
    }
    CHECK(calls == iterations);
    CHECK(calls > 0);
    check_x();
    observed.from_x = true;
    for (const auto& again : solver.solve(b_of_gpu, x_of_gpu, count, observed)) CHECK(again.iterations <= 1);
    CHECK_THROWS_AS((void)solver.solve(b_of_gpu, spmv_workbench::on_device(x_of_gpu.address(), b.size() - 1), count),
                    std::invalid_argument);
}

}  // namespace

TEST_SUITE("several right-hand sides") {
    TEST_CASE_TEMPLATE("a solver on the GPU solves for several right-hand sides together, for other values, too", Value, float,
                       double) {
        constexpr int count = 5;
        const double tolerance = sizeof(Value) == 4 ? 1e-4 : 1e-10;
        for (const char* text : {"[layout]\nuse = 'csr'\n", "[[stage]]\nuse = 'cuthill_mckee'\n[layout]\nuse = 'sell'\n",
                                 "[layout]\nuse = 'csc'\n"}) {  // the last has no loop for several vectors
            for (const bool jacobi : {false, true}) {
                CAPTURE(text);
                CAPTURE(jacobi);
                CsrMatrix matrix = scaled_laplacian(60, 0);
                spmv_workbench::SolverOptions options;
                options.recipe.device = spmv_workbench::Device::gpu;
                options.engine = spmv_workbench::Engine::graph;
                options.tolerance = tolerance;
                if (jacobi) options.preconditioner = spmv_workbench::Preconditioner::jacobi;
                spmv_workbench::Solver<Value> solver(spmv_workbench::Recipe::from_text(text), Arrays<Value>(matrix).view(),
                                                     options);
                std::vector<Value> b = numbers<Value>(matrix.rows * count, 3);
                for (std::size_t i = 2; i < b.size(); i += count) b[i] = 0;
                const auto column = [](const std::vector<Value>& all, int j) { return column_of(all, j, count); };
                for (int round = 0; round < 2; ++round) {
                    std::vector<Value> x(b.size(), 7);
                    const auto facts = solver.solve(b, x, count);
                    REQUIRE(facts.size() == count);
                    for (int j = 0; j < count; ++j) {
                        CHECK(facts[j].end == spmv_workbench::SolveEnd::converged);
                        CHECK(facts[j].together == count);
                        if (j == 2) continue;
                        CHECK(residual_of(matrix, column(x, j), column(b, j)) <= 2 * tolerance);
                        std::vector<Value> alone(matrix.rows);
                        const auto expected_iterations = solver.solve(column(b, j), alone).iterations;
                        CHECK(std::abs(facts[j].iterations - expected_iterations) <= 1 + expected_iterations / 20);
                    }
                    CHECK(facts[2].iterations == 0);
                    CHECK(column(x, 2) == std::vector<Value>(matrix.rows, 0));
                    spmv_workbench::SolveCourse<Value> course;
                    course.from_x = true;
                    for (const auto& again : solver.solve(b, x, count, course)) CHECK(again.iterations <= 1);
                    check_device_arrays(solver, matrix, b, facts, tolerance);
                    for (double& value : matrix.values) value *= value > 0 ? 2 : 1;
                    solver.matrix().set_values(Arrays<Value>(matrix).values);
                }
            }
        }
    }

    TEST_CASE("solve --right-sides on the GPU converges as each alone") {
        const auto device = make_cuda_device();
        const CsrMatrix matrix = scaled_laplacian(80, 0);
        SolveReport report;
        report.options.right_sides = 8;
        report.options.timing = {CacheState::warm, 3, 0, 0.1};
        const RightHandSides sides = make_right_hand_sides({}, matrix.rows, 8);
        SolvePlan plan{matrix, sides.columns.front(), catalogue(), *device, {Backend::cuda, Backend::cusparse}};
        plan.more_b.assign(sides.columns.begin() + 1, sides.columns.end());
        std::vector<Recipe> recipes;
        for (const char* text : {"[[stage]]\nuse = 'cuthill_mckee'\n[layout]\nuse = 'sell'\n", "[layout]\nuse = 'csr16'\n",
                                 "[layout]\nuse = 'coo'\n", "[layout]\nuse = 'csc'\n"}) {
            recipes.push_back(parse_recipe(text, "t.toml", catalogue()));
        }
        solve_recipes(plan, recipes, report);
        CHECK(report.failures.empty());
        CHECK(report.outcomes.size() == recipes.size() + 1);
        for (const SolveOutcome& one : report.outcomes) {
            CAPTURE(one.preparation.layout);
            CHECK_MESSAGE(one.end == SolveEnd::converged, one.reason);
            CHECK(one.true_residual <= 1.1e-8);
            CHECK(one.alone_solves > 0);
            CHECK(one.preparation.kernel.one_by_one == (one.preparation.layout == "csc"));
        }
        MESSAGE(solve_text(report));
    }
}

TEST_SUITE("device") {
    TEST_CASE_TEMPLATE("a solver on the GPU, with vectors there and on the host", Value, float, double) {
        const auto device = make_cuda_device();
        const CsrMatrix matrix = scaled_laplacian(60, 0);
        const double tolerance = sizeof(Value) == 4 ? 1e-4 : 1e-10;
        const std::vector<Value> b = numbers<Value>(matrix.rows, 1);
        for (const std::string& text : {prepared_there, recipes[0]}) {
            for (const auto method : {spmv_workbench::Method::conjugate_gradients, spmv_workbench::Method::bicgstab}) {
                for (const auto preconditioner :
                     {spmv_workbench::Preconditioner::none, spmv_workbench::Preconditioner::jacobi}) {
                    CAPTURE(text);
                    spmv_workbench::SolverOptions options;
                    options.method = method;
                    options.preconditioner = preconditioner;
                    options.tolerance = tolerance;
                    options.recipe = on_stream_of(*device);
                    const MatrixThere<Value> there(*device, matrix);
                    spmv_workbench::Solver<Value> solver(recipe_of(text), there.view(), options);
                    std::vector<Value> x(b.size());
                    for (int turn = 0; turn < 2; ++turn) {
                        std::fill(x.begin(), x.end(), Value{7});
                        const auto found = solver.solve(b, x);
                        CHECK(found.end == spmv_workbench::SolveEnd::converged);
                        CHECK(found.residual <= 1.1 * tolerance);
                        CHECK(found.iterations > 10);
                    }
                    const DeviceMemory b_there = to_device(*device, std::span(b), "b");
                    DeviceMemory x_there = device->allocate(b.size() * sizeof(Value), "x");
                    const auto found =
                        solver.solve(on_device(b_there.as<const Value>(), b.size()), on_device(x_there.as<Value>(), b.size()));
                    CHECK(found.end == spmv_workbench::SolveEnd::converged);
                    std::vector<Value> copy(b.size());
                    device->download(x_there, std::as_writable_bytes(std::span(copy)));
                    CHECK(copy == x);
                    std::vector<Value> product(b.size());
                    solver.matrix().multiply(x, product);
                    double residual = 0;
                    double norm = 0;
                    for (std::size_t i = 0; i < b.size(); ++i) {
                        residual += std::pow(static_cast<double>(b[i]) - static_cast<double>(product[i]), 2);
                        norm += std::pow(static_cast<double>(b[i]), 2);
                    }
                    CHECK(std::sqrt(residual / norm) <= 2 * tolerance);
                    check_course_of_solves(solver, b, x, found.iterations);
                }
            }
        }
    }

    TEST_CASE_TEMPLATE("a solver with a persistent kernel, for matrices on the GPU and on the host", Value, float, double) {
        const auto device = make_cuda_device();
        const double tolerance = sizeof(Value) == 4 ? 1e-4 : 1e-10;
        using Solver = spmv_workbench::Solver<Value>;
        using spmv_workbench::Engine;
        for (const auto method : {spmv_workbench::Method::conjugate_gradients, spmv_workbench::Method::bicgstab}) {
            const bool cg = method == spmv_workbench::Method::conjugate_gradients;
            const CsrMatrix matrix = scaled_laplacian(60, cg ? 0 : 0.3);
            CsrMatrix other = matrix;
            for (Index row = 0; row < matrix.rows; ++row) {
                for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
                    other.values[k] *= matrix.column_indices[k] == row ? 3 : 2;  // exact in f32, as the matrix is
                }
            }
            const std::vector<Value> b = numbers<Value>(matrix.rows, 1);
            const MatrixThere<Value> changed(*device, other);
            for (const bool jacobi : {false, true}) {
                for (const std::string& text : {prepared_there, recipes[0], recipes[1]}) {
                    for (const std::string from : {"gpu", "gpu, short", "host", "host, backwards"}) {
                        CAPTURE(cg);
                        CAPTURE(jacobi);
                        CAPTURE(text);
                        CAPTURE(from);
                        spmv_workbench::SolverOptions options;
                        options.method = method;
                        options.preconditioner =
                            jacobi ? spmv_workbench::Preconditioner::jacobi : spmv_workbench::Preconditioner::none;
                        options.tolerance = tolerance;
                        options.recipe = on_stream_of(*device);
                        options.engine = Engine::persistent;
                        const Backwards<Value> backwards(matrix);
                        const std::unique_ptr<Solver> solver = [&] {
                            if (from == "host") {
                                return std::make_unique<Solver>(recipe_of(text), Arrays<Value>(matrix).view(), options);
                            }
                            if (from == "host, backwards") {
                                return std::make_unique<Solver>(recipe_of(text), backwards.view(), options);
                            }
                            MatrixThere<Value> there(*device, matrix);
                            return std::make_unique<Solver>(
                                recipe_of(text), from == "gpu" ? there.view() : there.short_view(*device, matrix), options);
                        }();
                        std::vector<Value> x(b.size(), Value{7});
                        const auto found = solver->solve(b, x);
                        CHECK(found.engine == Engine::persistent);
                        CHECK(found.end == spmv_workbench::SolveEnd::converged);
                        CHECK(residual_of(matrix, x, b) <= 2 * tolerance);
                        const DeviceMemory b_there = to_device(*device, std::span(b), "b");
                        DeviceMemory x_there = device->allocate(b.size() * sizeof(Value), "x");
                        CHECK(solver
                                  ->solve(on_device(b_there.as<const Value>(), b.size()),
                                          on_device(x_there.as<Value>(), b.size()))
                                  .iterations == found.iterations);
                        std::vector<Value> copy(b.size());
                        device->download(x_there, std::as_writable_bytes(std::span(copy)));
                        CHECK(copy == x);
                        // New values: from the host in the caller's order, and on the GPU.
                        if (from == "host, backwards") {
                            solver->matrix().set_values(Backwards<Value>(other).values);
                        } else if (from == "host") {
                            solver->matrix().set_values(Arrays<Value>(other).values);
                        } else {
                            solver->matrix().set_values(on_device(changed.values.template as<const Value>(), changed.nonzeros));
                        }
                        const auto again = solver->solve(b, x);
                        CHECK(again.engine == Engine::persistent);
                        CHECK(again.end == spmv_workbench::SolveEnd::converged);
                        CHECK(residual_of(other, x, b) <= 2 * tolerance);
                        check_course_of_solves(*solver, b, x, again.iterations);
                        CHECK(solver->solve(b, x).engine == Engine::graph);  // with a function as preconditioner
                        solver->precondition_by(nullptr);
                        CHECK(solver->solve(b, x).engine == Engine::persistent);
                        CHECK(residual_of(other, x, b) <= 2 * tolerance);
                    }
                }
            }
        }
    }

    TEST_CASE("a solver on the default stream, in order with operators there") {
        const auto device = make_cuda_device_on(nullptr);
        const CsrMatrix matrix = scaled_laplacian(60, 0);
        const std::vector<double> b = numbers<double>(matrix.rows, 1);
        const DeviceMemory start = to_device(*device, std::span(b), "a vector");
        for (const auto engine : {spmv_workbench::Engine::graph, spmv_workbench::Engine::persistent}) {
            spmv_workbench::SolverOptions options;
            options.tolerance = 1e-10;
            options.engine = engine;
            spmv_workbench::Solver<double> solver(recipe_of(prepared_there), Arrays<double>(matrix).view(), options);
            Operator<double> a(recipe_of(recipes[0]), Arrays<double>(matrix).view());
            DeviceMemory product = device->allocate(b.size() * sizeof(double), "b");
            DeviceMemory x = device->allocate(b.size() * sizeof(double), "x");
            // b = A start is still in the queue when the solve begins, whose x is the start again.
            a.multiply(on_device(start.as<const double>(), b.size()), on_device(product.as<double>(), b.size()));
            const auto found =
                solver.solve(on_device(product.as<const double>(), b.size()), on_device(x.as<double>(), b.size()));
            CHECK(found.engine == engine);
            CHECK(found.end == spmv_workbench::SolveEnd::converged);
            std::vector<double> copy(b.size());
            device->download(x, std::as_writable_bytes(std::span(copy)));
            for (std::size_t i = 0; i < b.size(); ++i) CHECK(copy[i] == doctest::Approx(b[i]).epsilon(1e-6));
        }
    }

    TEST_CASE("a persistent kernel with values of f32 gives way where they do not represent the new ones") {
        const auto device = make_cuda_device();
        CsrMatrix matrix = scaled_laplacian(30, 0);
        for (double& value : matrix.values) value = static_cast<double>(static_cast<float>(value));
        spmv_workbench::SolverOptions options;
        options.recipe = on_stream_of(*device);
        options.engine = spmv_workbench::Engine::persistent;
        const MatrixThere<double> there(*device, matrix);
        spmv_workbench::Solver<double> solver(recipe_of(prepared_there), there.view(), options);
        const std::vector<double> b = numbers<double>(matrix.rows, 1);
        std::vector<double> x(b.size());
        CHECK(solver.solve(b, x).engine == spmv_workbench::Engine::persistent);
        CHECK(residual_of(matrix, x, b) <= 2e-8);
        CsrMatrix other = matrix;
        for (double& value : other.values) value *= 1.1;
        solver.matrix().set_values(other.values);
        const auto found = solver.solve(b, x);
        CHECK(found.engine == spmv_workbench::Engine::graph);
        CHECK(found.end == spmv_workbench::SolveEnd::converged);
        CHECK(residual_of(other, x, b) <= 2e-8);
        for (double& value : matrix.values) value *= 2;
        solver.matrix().set_values(matrix.values);
        CHECK(solver.solve(b, x).end == spmv_workbench::SolveEnd::converged);
        CHECK(residual_of(matrix, x, b) <= 2e-8);
        spmv_workbench::Solver<double> later(recipe_of(prepared_there), there.view(), options);
        later.matrix().set_values(other.values);
        later.matrix().set_values(matrix.values);
        CHECK(later.solve(b, x).engine == spmv_workbench::Engine::persistent);
        CHECK(residual_of(matrix, x, b) <= 2e-8);
    }

    TEST_CASE_TEMPLATE("a solver neither expects zeros in new memory nor uses memory that was returned", Value, float, double) {
        const auto device = make_cuda_device();
        const CsrMatrix matrix = scaled_laplacian(60, 0);
        const std::vector<Value> b = numbers<Value>(matrix.rows, 1);
        const MatrixThere<Value> there(*device, matrix);
        // Takes what the pool has to give, and fills it with NaN.
        const auto spoil = [&] {
            std::vector<DeviceMemory> all;
            for (const int shift : {9, 12, 16, 20}) {
                for (int i = 0; i < 100; ++i) {
                    all.push_back(device->allocate(std::size_t{1} << shift, "memory of others"));
                    device->fill(all.back().address(), std::byte{0xFF}, all.back().bytes());
                }
            }
            return all;
        };
        for (const auto engine : {spmv_workbench::Engine::graph, spmv_workbench::Engine::persistent}) {
            for (const std::string& recipe : {std::string("[layout]\nuse = 'csr'\n"), prepared_there}) {
                spmv_workbench::SolverOptions options;
                options.recipe = on_stream_of(*device);
                options.engine = engine;
                options.tolerance = 1e-4;
                spoil();
                spmv_workbench::Solver<Value> solver(recipe_of(recipe), there.view(), options);
                const std::vector<DeviceMemory> others = spoil();
                std::vector<Value> x(b.size());
                CHECK(solver.solve(b, x).end == spmv_workbench::SolveEnd::converged);
                CHECK(residual_of(matrix, x, b) <= 2e-4);
            }
        }
    }

    TEST_CASE("a solve with arrays on the GPU has written x when it returns, for any stream") {
        const auto device = make_cuda_device();
        const auto other = make_cuda_device();
        // The last copy to x takes longer than it takes another stream to begin.
        const CsrMatrix matrix = scaled_laplacian(1500, 0);
        const MatrixThere<double> there(*device, matrix);
        const auto rows = static_cast<std::size_t>(matrix.rows);
        spmv_workbench::SolverOptions options;
        options.recipe = on_stream_of(*device);
        options.recipe.verify = false;
        options.engine = spmv_workbench::Engine::graph;
        options.most_iterations = 3;
        spmv_workbench::Solver<double> solver(recipe_of("[layout]\nuse = 'csr'\n"), there.view(), options);
        const DeviceMemory x = device->allocate(rows * sizeof(double), "x");
        for (const double factor : {1.0, -3.0}) {
            const std::vector<double> values(rows, factor);
            const DeviceMemory b = to_device(*device, std::span<const double>(values), "b");
            (void)device->time([&] { device->fill(x.address(), std::byte{0}, x.bytes()); });
            (void)solver.solve(on_device(b.as<const double>(), rows), on_device(x.as<double>(), rows));
            std::vector<double> at_once(rows);
            std::vector<double> later(rows);
            other->download(x, std::as_writable_bytes(std::span(at_once)));
            (void)device->time([] {});
            device->download(x, std::as_writable_bytes(std::span(later)));
            CHECK(at_once == later);
            CHECK(later.back() * factor > 0);
        }
    }

    TEST_CASE("the engine of a solver is chosen by a model, which says why") {
        const auto device = make_cuda_device();
        const CsrMatrix matrix = scaled_laplacian(150, 0);
        const std::vector<double> b = numbers<double>(matrix.rows, 1);
        std::vector<double> x(b.size());
        const MatrixThere<double> there(*device, matrix);
        for (const std::int64_t iterations : {1, 1000000}) {
            spmv_workbench::SolverOptions options;
            options.recipe = on_stream_of(*device);
            options.expected_iterations = iterations;
            spmv_workbench::Solver<double> solver(recipe_of(prepared_there), there.view(), options);
            CHECK(solver.solve(b, x).engine ==
                  (iterations == 1 ? spmv_workbench::Engine::graph : spmv_workbench::Engine::persistent));
            const std::vector<std::string>& notes = solver.matrix().facts().notes;
            CHECK(std::any_of(notes.begin(), notes.end(),
                              [](const std::string& note) { return note.starts_with("persistent kernel: by the model, "); }));
        }
    }
}

}  // namespace workbench
