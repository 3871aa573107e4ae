// The library's solver: methods, preconditioners, ends of solves, and several right-hand sides.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include <spmv_workbench/spmv_workbench.hpp>

#include "core/matrix/csr_matrix.hpp"
#include "support/message_of.hpp"
#include "support/operator_checks.hpp"

namespace workbench {
namespace {

using spmv_workbench::Method;
using spmv_workbench::Preconditioner;
using spmv_workbench::Recipe;
using spmv_workbench::SolveEnd;
using spmv_workbench::SolveFacts;
using spmv_workbench::Solver;
using spmv_workbench::SolverOptions;

const std::string plain = "[layout]\nuse = 'csr'\n";
const std::string reordered =
    "[[stage]]\nuse = 'cuthill_mckee'\n[[stage]]\nuse = 'row_sort'\n[layout]\nuse = 'sell'\nslice_height = 4\n";
const std::string rows_only = "[[stage]]\nuse = 'row_sort'\napply = 'rows'\n[layout]\nuse = 'ellr'\nslots_per_nonzero = 100\n";

/// Five points a row on a square grid; `wind` makes it unsymmetric, and the diagonal varies from row to row.
CsrMatrix grid(Index side, double wind = 0) {
    std::vector<Entry> entries;
    for (Index y = 0; y < side; ++y) {
        for (Index x = 0; x < side; ++x) {
            const Index own = y * side + x;
            entries.push_back({own, own, 4.5 + 20.0 * (own % 5)});
            if (x > 0) entries.push_back({own, own - 1, -1 - wind});
            if (x + 1 < side) entries.push_back({own, own + 1, -1 + wind});
            if (y > 0) entries.push_back({own, own - side, -1});
            if (y + 1 < side) entries.push_back({own, own + side, -1});
        }
    }
    return csr_from_entries(side * side, side * side, entries);
}

SolverOptions options_of(Method method, Preconditioner preconditioner, double tolerance) {
    SolverOptions options;
    options.method = method;
    options.preconditioner = preconditioner;
    options.tolerance = tolerance;
    options.recipe.device = spmv_workbench::Device::host;
    return options;
}

/// |b - A x| / |b| in f64.
template <typename Value>
double true_residual(const CsrMatrix& matrix, const std::vector<Value>& x, const std::vector<Value>& b) {
    const std::vector<double> product = expected(matrix, x, std::vector<Value>(b.size(), 0));
    double residual = 0;
    double norm = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
        residual += (static_cast<double>(b[i]) - product[i]) * (static_cast<double>(b[i]) - product[i]);
        norm += static_cast<double>(b[i]) * static_cast<double>(b[i]);
    }
    return std::sqrt(residual / norm);
}

template <typename Value>
SolveFacts solved(Solver<Value>& solver, const CsrMatrix& matrix, int seed, double tolerance) {
    const std::vector<Value> b = numbers<Value>(matrix.rows, seed);
    std::vector<Value> x(b.size(), std::numeric_limits<Value>::quiet_NaN());
    const SolveFacts facts = solver.solve(b, x);
    CHECK(facts.end == SolveEnd::converged);
    CHECK(facts.iterations > 3);
    CHECK(facts.residual <= 1.1 * tolerance);
    CHECK(facts.seconds > 0);
    CHECK(true_residual(matrix, x, b) <= 1.2 * tolerance);
    return facts;
}

}  // namespace

TEST_CASE_TEMPLATE("the library solves with each method, preconditioner and order", Value, float, double) {
    const double tolerance = sizeof(Value) == 4 ? 1e-5 : 1e-10;
    for (const std::string& text : {plain, reordered, rows_only}) {
        for (const Preconditioner preconditioner : {Preconditioner::none, Preconditioner::jacobi}) {
            CAPTURE(text);
            const CsrMatrix symmetric = grid(20);
            Solver<Value> cg(Recipe::from_text(text), Arrays<Value>(symmetric).view(),
                             options_of(Method::conjugate_gradients, preconditioner, tolerance));
            (void)solved(cg, symmetric, 1, tolerance);
            const CsrMatrix unsymmetric = grid(20, 0.5);
            Solver<Value> bicgstab(Recipe::from_text(text), Arrays<Value>(unsymmetric).view(),
                                   options_of(Method::bicgstab, preconditioner, tolerance));
            (void)solved(bicgstab, unsymmetric, 2, tolerance);
        }
    }
}

TEST_CASE("a solver solves again, for another right-hand side and for other values") {
    CsrMatrix matrix = grid(25);
    const SolverOptions options = options_of(Method::conjugate_gradients, Preconditioner::none, 1e-9);
    Solver<double> solver(Recipe::from_text(reordered), Arrays<double>(matrix).view(), options);
    const SolveFacts first = solved(solver, matrix, 1, 1e-9);
    (void)solved(solver, matrix, 3, 1e-9);
    CHECK(solved(solver, matrix, 1, 1e-9).iterations == first.iterations);
    for (double& value : matrix.values) value *= value > 4 ? 3 : 1;
    solver.matrix().set_values(Arrays<double>(matrix).values);
    CHECK(solved(solver, matrix, 1, 1e-9).iterations < first.iterations);

    std::vector<double> x(625, 7);
    const SolveFacts zero = solver.solve(std::vector<double>(625, 0), x);
    CHECK(zero.end == SolveEnd::converged);
    CHECK(zero.iterations == 0);
    CHECK(zero.residual == 0);
    CHECK(x == std::vector<double>(625, 0));
}

TEST_CASE_TEMPLATE("several right-hand sides advance together, for other values, too", Value, float, double) {
    const double tolerance = sizeof(Value) == 4 ? 1e-5 : 1e-10;
    constexpr int count = 5;
    const auto column = [](const std::vector<Value>& all, int j) {
        std::vector<Value> one;
        for (std::size_t i = j; i < all.size(); i += count) one.push_back(all[i]);
        return one;
    };
    for (const std::string& text : {plain, reordered, rows_only}) {
        for (const Preconditioner preconditioner : {Preconditioner::none, Preconditioner::jacobi}) {
            CAPTURE(text);
            CsrMatrix matrix = grid(20);
            Solver<Value> solver(Recipe::from_text(text), Arrays<Value>(matrix).view(),
                                 options_of(Method::conjugate_gradients, preconditioner, tolerance));
            std::vector<Value> b = numbers<Value>(matrix.rows * count, 3);
            for (std::size_t i = 2; i < b.size(); i += count) b[i] = 0;
            for (int round = 0; round < 2; ++round) {
                std::vector<Value> x(b.size(), std::numeric_limits<Value>::quiet_NaN());
                const std::vector<SolveFacts> facts = solver.solve(b, x, count);
                REQUIRE(facts.size() == count);
                for (int j = 0; j < count; ++j) {
                    CHECK(facts[j].end == SolveEnd::converged);
                    CHECK(facts[j].together == count);
                    CHECK(facts[j].residual <= 1.1 * tolerance);
                    if (j == 2) continue;
                    CHECK(facts[j].iterations > 3);
                    CHECK(true_residual(matrix, column(x, j), column(b, j)) <= 1.2 * tolerance);
                }
                CHECK(facts[2].iterations == 0);
                CHECK(column(x, 2) == std::vector<Value>(matrix.rows, 0));
                spmv_workbench::SolveCourse<Value> course;
                course.from_x = true;
                std::fill(x.begin() + 2, x.begin() + 3, Value{7});  // of b = 0
                for (const SolveFacts& again : solver.solve(b, x, count, course)) CHECK(again.iterations == 0);
                CHECK(column(x, 2) == std::vector<Value>(matrix.rows, 0));
                std::vector<Value> x_of_one(matrix.rows);
                std::vector<Value> x_alone(matrix.rows);
                const SolveFacts of_one = solver.solve(column(b, 1), x_of_one, 1).at(0);
                const SolveFacts alone = solver.solve(column(b, 1), x_alone);
                CHECK(x_of_one == x_alone);
                CHECK(of_one.iterations == alone.iterations);
                CHECK(of_one.residual == alone.residual);
                CHECK(of_one.together == 1);
                for (double& value : matrix.values) value *= value > 4 ? 2 : 1;
                solver.matrix().set_values(Arrays<Value>(matrix).values);
            }
        }
    }
}

TEST_CASE("several right-hand sides that do not go together, and wrong ones") {
    const CsrMatrix matrix = grid(20, 0.3);
    Solver<double> solver(Recipe::from_text(reordered), Arrays<double>(matrix).view(),
                          options_of(Method::bicgstab, Preconditioner::none, 1e-9));
    std::vector<double> b = numbers<double>(2 * matrix.rows, 1);
    std::vector<double> x(b.size());
    const std::vector<SolveFacts> solves = solver.solve(b, x, 2);
    REQUIRE(solves.size() == 2);
    for (std::size_t j = 0; j < 2; ++j) {
        CHECK(solves[j].end == SolveEnd::converged);
        CHECK(solves[j].together == 1);
        std::vector<double> own_b;
        std::vector<double> own_x;
        for (std::size_t i = j; i < b.size(); i += 2) {
            own_b.push_back(b[i]);
            own_x.push_back(x[i]);
        }
        CHECK(true_residual(matrix, own_x, own_b) <= 1.2e-9);
    }
    spmv_workbench::SolveCourse<double> onwards;
    onwards.from_x = true;
    for (const SolveFacts& again : solver.solve(b, x, 2, onwards)) CHECK(again.iterations == 0);
    const auto message = [&](int count) { return message_of<std::invalid_argument>([&] { (void)solver.solve(b, x, count); }); };
    CHECK(message(0) == "found 0 vectors; expected 1 to 64");
    CHECK(message(65) == "found 65 vectors; expected 1 to 64");
    CHECK(message(3) == "b has 800 elements; expected 1200");
    b[7] = std::nan("");
    CHECK(message(2) == "b[3, 1] is nan; expected finite numbers");
    b[7] = 1e-170;
    Solver<double> cg(Recipe::from_text(reordered), Arrays<double>(grid(20)).view(),
                      options_of(Method::conjugate_gradients, Preconditioner::none, 1e-9));
    for (std::size_t i = 1; i < b.size(); i += 2) b[i] = 1e-170;
    CHECK_THROWS_AS((void)cg.solve(b, x, 2), spmv_workbench::MatrixError);
    for (std::size_t i = 1; i < b.size(); i += 2) b[i] = 1;
    CHECK(cg.solve(b, x, 2)[1].end == SolveEnd::converged);
}

TEST_CASE("jacobi saves iterations where the diagonal varies") {
    const CsrMatrix matrix = grid(30);
    std::array<std::int64_t, 2> iterations{};
    std::array<std::int64_t, 2> of_several{};
    for (const bool jacobi : {false, true}) {
        Solver<double> solver(
            Recipe::from_text(reordered), Arrays<double>(matrix).view(),
            options_of(Method::conjugate_gradients, jacobi ? Preconditioner::jacobi : Preconditioner::none, 1e-8));
        iterations[jacobi ? 1 : 0] = solved(solver, matrix, 1, 1e-8).iterations;
        const std::vector<double> b = numbers<double>(2 * matrix.rows, 1);
        std::vector<double> x(b.size());
        of_several[jacobi ? 1 : 0] = solver.solve(b, x, 2)[1].iterations;
    }
    CHECK(2 * iterations[1] < iterations[0]);
    CHECK(2 * of_several[1] < of_several[0]);
}

TEST_CASE("solves end with the reason") {
    const CsrMatrix matrix = grid(20);
    const std::vector<double> b = numbers<double>(matrix.rows, 1);
    std::vector<double> x(b.size());
    SolverOptions options = options_of(Method::conjugate_gradients, Preconditioner::none, 1e-8);
    options.most_iterations = 5;
    Solver<double> limited(Recipe::from_text(reordered), Arrays<double>(matrix).view(), options);
    const SolveFacts facts = limited.solve(b, x);
    CHECK(facts.end == SolveEnd::iteration_limit);
    CHECK(facts.iterations == 5);
    CHECK(facts.residual == doctest::Approx(true_residual(matrix, x, b)).epsilon(1e-6));

    options.most_iterations = 1000;
    options.tolerance = 1e-17;
    options.patience = 50;
    Solver<double> stagnating(Recipe::from_text(reordered), Arrays<double>(matrix).view(), options);
    CHECK(stagnating.solve(b, x).end == SolveEnd::stagnated);

    CsrMatrix negative = matrix;
    for (double& value : negative.values) value = -value;
    options.tolerance = 1e-8;
    Solver<double> indefinite(Recipe::from_text(reordered), Arrays<double>(negative).view(), options);
    CHECK(indefinite.solve(b, x).end == SolveEnd::indefinite);

    std::vector<double> not_finite = b;
    not_finite[17] = std::numeric_limits<double>::quiet_NaN();
    Solver<double> broken(Recipe::from_text(reordered), Arrays<double>(matrix).view(), options);
    x.assign(x.size(), 3);
    CHECK_THROWS_WITH_AS(broken.solve(not_finite, x), "b[17] is nan; expected finite numbers", std::invalid_argument);
    spmv_workbench::SolveCourse<double> onwards;
    onwards.from_x = true;
    std::vector<double> first = x;
    first.back() = -std::numeric_limits<double>::infinity();
    CHECK_THROWS_WITH_AS(broken.solve(b, first, onwards), "x[399] is -inf; expected finite numbers", std::invalid_argument);
    CHECK(std::ranges::count(x, 3) == std::ssize(x));
    CHECK(broken.solve(b, first).end == SolveEnd::converged);  // what x contains does not matter
    CHECK(broken.solve(b, x).end == SolveEnd::converged);
}

TEST_CASE("a solver refuses numbers whose squares leave the range of f64") {
    const CsrMatrix matrix = grid(20);
    const auto solve = [&](Method method, double of_matrix, double of_b) {
        CsrMatrix scaled = matrix;
        for (double& value : scaled.values) value *= of_matrix;
        std::vector<double> b = numbers<double>(matrix.rows, 1);
        for (double& value : b) value *= of_b;
        Solver<double> solver(Recipe::from_text(reordered), Arrays<double>(scaled).view(),
                              options_of(method, Preconditioner::none, 1e-8));
        std::vector<double> x(b.size());
        const SolveFacts facts = solver.solve(b, x);
        CHECK(facts.end == SolveEnd::converged);
        return facts.iterations;
    };
    const auto refusal = [&](Method method, double of_matrix, double of_b) {
        return message_of<spmv_workbench::MatrixError>([&] { (void)solve(method, of_matrix, of_b); });
    };
    for (const Method method : {Method::conjugate_gradients, Method::bicgstab}) {
        for (const double b : {1e-310, 1e-170, 1e-155, 1e-150, 1e160}) {
            CHECK(refusal(method, 1, b).starts_with("the square of the residual would be about 1e"));
        }
        CHECK(solve(method, 1, 0x1p-450) == solve(method, 1, 1));
        CHECK(solve(method, 1, 0x1p450) == solve(method, 1, 1));
    }
    for (const double of_matrix : {0x1p-664, 0x1p664}) {
        CHECK(solve(Method::conjugate_gradients, of_matrix, 1) == solve(Method::conjugate_gradients, 1, 1));
        CHECK(refusal(Method::bicgstab, of_matrix, 1).starts_with("the square of A r would be about 1e"));
    }
}

TEST_CASE_TEMPLATE("a solve with a function as preconditioner, and one that begins with an x", Value, float, double) {
    const double tolerance = sizeof(Value) == 4 ? 1e-5 : 1e-10;
    for (const std::string& text : {plain, reordered, rows_only}) {
        for (const Method method : {Method::conjugate_gradients, Method::bicgstab}) {
            CAPTURE(text);
            const CsrMatrix matrix = grid(20, method == Method::bicgstab ? 0.5 : 0);
            Solver<Value> solver(Recipe::from_text(text), Arrays<Value>(matrix).view(),
                                 options_of(method, Preconditioner::jacobi, tolerance));
            const std::int64_t by_jacobi = solved(solver, matrix, 1, tolerance).iterations;
            std::int64_t calls = 0;
            solver.precondition_by([&](spmv_workbench::ArrayView<const Value> r, spmv_workbench::ArrayView<Value> z) {
                ++calls;
                for (std::size_t i = 0; i < r.size(); ++i) z[i] = r[i] / static_cast<Value>(4.5 + 20.0 * (i % 5));
            });
            const std::int64_t by_function = solved(solver, matrix, 1, tolerance).iterations;
            CHECK(std::abs(by_function - by_jacobi) <= 1);
            CHECK(calls >= (method == Method::bicgstab ? 2 : 1) * by_function);

            const std::vector<Value> b = numbers<Value>(matrix.rows, 1);
            std::vector<Value> x(b.size());
            (void)solver.solve(b, x);
            spmv_workbench::SolveCourse<Value> course;
            course.from_x = true;
            CHECK(solver.solve(b, x, course).iterations == 0);
            for (Value& value : x) value *= static_cast<Value>(1.001);
            const SolveFacts near = solver.solve(b, x, course);
            CHECK(near.end == SolveEnd::converged);
            CHECK(near.iterations < by_function);
            CHECK(true_residual(matrix, x, b) <= 1.2 * tolerance);
            CHECK(solver.solve(std::vector<Value>(b.size(), 0), x, course).iterations == 0);
            CHECK(x == std::vector<Value>(b.size(), 0));

            solver.precondition_by({});
            calls = 0;
            CHECK(solved(solver, matrix, 1, tolerance).iterations == by_jacobi);
            CHECK(calls == 0);
        }
    }
}

TEST_CASE("jacobi has the diagonal of new values") {
    CsrMatrix matrix = grid(25);
    const SolverOptions options = options_of(Method::conjugate_gradients, Preconditioner::jacobi, 1e-9);
    Solver<double> solver(Recipe::from_text(reordered), Arrays<double>(matrix).view(), options);
    (void)solved(solver, matrix, 1, 1e-9);
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
            if (matrix.column_indices[k] == row) matrix.values[k] *= 1 + row * row;
        }
    }
    Solver<double> fresh(Recipe::from_text(reordered), Arrays<double>(matrix).view(), options);
    solver.matrix().set_values(Arrays<double>(matrix).values);
    CHECK(solved(solver, matrix, 1, 1e-9).iterations == solved(fresh, matrix, 1, 1e-9).iterations);
}

TEST_CASE("functions of the caller see every iteration, may stop a solve, and may use other operators") {
    const CsrMatrix matrix = grid(20);
    const std::vector<double> b = numbers<double>(matrix.rows, 1);
    std::vector<double> x(b.size());
    bool stops = false;
    SolverOptions options = options_of(Method::conjugate_gradients, Preconditioner::none, 1e-9);
    options.recipe.stop = [&] { return stops; };
    Solver<double> solver(Recipe::from_text(reordered), Arrays<double>(matrix).view(), options);
    spmv_workbench::Operator<double> other(Recipe::from_text(reordered), Arrays<double>(matrix).view(), options.recipe);

    spmv_workbench::SolveCourse<double> course;
    std::vector<double> residuals;
    std::vector<double> last;
    course.each_iteration = [&](std::int64_t iterations, double residual, spmv_workbench::ArrayView<const double> now) {
        residuals.push_back(residual);
        CHECK(iterations == std::ssize(residuals));
        last.assign(now.begin(), now.end());
        std::vector<double> y(now.size());
        other.multiply(now, y);
        CHECK(residual == doctest::Approx(true_residual(matrix, last, b)).epsilon(1e-4));
    };
    const SolveFacts facts = solver.solve(b, x, course);
    CHECK(facts.iterations == std::ssize(residuals));
    CHECK(last == x);
    std::vector<double> without(b.size());
    CHECK(solver.solve(b, without).iterations == facts.iterations);
    CHECK(without == x);

    // Several right-hand sides are solved for one after another, so that the function sees one x.
    const std::vector<double> two = numbers<double>(2 * matrix.rows, 2);
    std::vector<double> both(two.size());
    std::int64_t calls = 0;
    course.each_iteration = [&](std::int64_t, double, spmv_workbench::ArrayView<const double> now) {
        ++calls;
        CHECK(now.size() == b.size());
    };
    const std::vector<SolveFacts> of_two = solver.solve(two, both, 2, course);
    REQUIRE(of_two.size() == 2);
    CHECK(calls == of_two[0].iterations + of_two[1].iterations);

    course.each_iteration = [](std::int64_t, double, spmv_workbench::ArrayView<const double>) { throw 17; };
    CHECK_THROWS_AS((void)solver.solve(b, x, course), int);
    solver.precondition_by([](spmv_workbench::ArrayView<const double>, spmv_workbench::ArrayView<double>) { throw 18; });
    CHECK_THROWS_AS((void)solver.solve(b, x), int);
    solver.precondition_by({});
    stops = true;
    CHECK_THROWS_AS((void)solver.solve(b, x), spmv_workbench::Stopped);
    stops = false;
    CHECK(solver.solve(b, x).end == SolveEnd::converged);
}

TEST_CASE("a solver on the host has no persistent kernel") {
    const CsrMatrix matrix = grid(5);
    const std::vector<double> b(25, 1);
    std::vector<double> x(25);
    SolverOptions options = options_of(Method::conjugate_gradients, Preconditioner::none, 1e-8);
    for (const auto engine : {spmv_workbench::Engine::automatic, spmv_workbench::Engine::graph}) {
        options.engine = engine;
        CHECK(Solver<double>(Recipe::from_text(plain), Arrays<double>(matrix).view(), options).solve(b, x).engine ==
              spmv_workbench::Engine::graph);
    }
    options.engine = spmv_workbench::Engine::persistent;
    const std::string reason = message_of<spmv_workbench::MatrixError>(
        [&] { Solver<double>(Recipe::from_text(plain), Arrays<double>(matrix).view(), options); });
    CHECK_MESSAGE(reason.starts_with("the engine persistent: a persistent kernel needs a GPU; this device is "), reason);
    options.expected_iterations = -1;
    CHECK(message_of<std::invalid_argument>([&] {
              Solver<double>(Recipe::from_text(plain), Arrays<double>(matrix).view(), options);
          }) == "SolverOptions::expected_iterations: expected 0 or a positive number");
}

TEST_CASE("a solver refuses what it cannot solve") {
    const SolverOptions options = options_of(Method::conjugate_gradients, Preconditioner::none, 1e-8);
    const CsrMatrix wide = csr_from_entries(2, 3, std::vector<Entry>{{0, 0, 1}, {1, 2, 1}});
    const Recipe recipe = Recipe::from_text(plain);
    CHECK(message_of<spmv_workbench::MatrixError>([&] { Solver<double>(recipe, Arrays<double>(wide).view(), options); }) ==
          "the matrix: 2 rows and 3 columns; a solver needs as many of each");
    const CsrMatrix matrix = grid(3);
    SolverOptions wrong = options;
    wrong.tolerance = 0;
    CHECK_THROWS_AS(Solver<double>(recipe, Arrays<double>(matrix).view(), wrong), std::invalid_argument);
    wrong = options;
    wrong.patience = 0;
    CHECK_THROWS_AS(Solver<double>(recipe, Arrays<double>(matrix).view(), wrong), std::invalid_argument);
    Solver<double> solver(recipe, Arrays<double>(matrix).view(), options);
    std::vector<double> nine(9);
    std::vector<double> eight(8);
    CHECK_THROWS_AS(solver.solve(nine, eight), std::invalid_argument);
    CHECK_THROWS_AS(solver.solve(eight, nine), std::invalid_argument);
    CHECK_THROWS_WITH_AS(solver.solve(nine, nine), "b and x overlap; expected disjoint arrays", std::invalid_argument);
    CHECK_THROWS_AS(solver.solve(spmv_workbench::on_device(nine.data(), 9), spmv_workbench::on_device(eight.data(), 8)),
                    std::invalid_argument);
}

}  // namespace workbench
