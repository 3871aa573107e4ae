// Solves on a GPU in one kernel, compared with those by a graph of kernels.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/contract/solvers.hpp"
#include "core/matrix/permutation.hpp"
#include "kernels/gpu/gpu.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/recipe/recipe.hpp"
#include "studies/solve/solve_recipes.hpp"
#include "support/layouts/krylov_problems.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

template <ValueType Value>
class Solve {
public:
    Solve(Device& device, const CsrMatrix& matrix, const KrylovPlan& plan, const std::vector<double>& b,
          const std::vector<double>& inverse = {}, const std::vector<Index>& cuts = {}, HaloOfParts halo = HaloOfParts::by_room)
        : b_(b.begin(), b.end()), inverse_(inverse.begin(), inverse.end()) {
        solver_ = make_persistent_solver<Value>(
            device, {.matrix = &matrix, .cuts = cuts, .method = plan.method, .preconditioned = !inverse.empty(), .halo = halo});
        krylov_ = solver_->begin(plan, std::span<const Value>(b_), std::span<const Value>(inverse_));
    }
    Krylov<Value>* operator->() { return krylov_.get(); }

private:
    std::vector<Value> b_, inverse_;
    std::unique_ptr<PersistentSolver<Value>> solver_;
    std::unique_ptr<Krylov<Value>> krylov_;
};

template <ValueType Value>
void check_like_graph(Device& device, const CsrMatrix& matrix, bool jacobi, KrylovMethod method = KrylovMethod::cg) {
    constexpr bool single = sizeof(Value) == 4;
    const std::vector<double> b = right_hand_side(matrix.rows);
    const double tolerance = (single ? 1e-4 : 1e-9) * norm_of(b);
    const KrylovPlan plan{method, tolerance, 2000};
    const std::vector<double> inverse = jacobi ? inverse_diagonal<double>(matrix) : std::vector<double>();
    const std::vector<Value> rounded_b(b.begin(), b.end());
    const std::vector<Value> rounded_inverse(inverse.begin(), inverse.end());
    const auto graph = make_krylov<Value>(device, plan, rounded_b, rounded_inverse);
    BaselineProduct<Value> multiplier(matrix, device);
    graph->use(multiplier.product());
    graph->launch(2000);
    const KrylovProgress expected = graph->wait();
    REQUIRE(expected.state == KrylovState::converged);

    Solve<Value> one(device, matrix, plan, b, inverse);
    one->launch(2000);
    const KrylovProgress found = one->wait();
    CHECK(found.state == KrylovState::converged);
    // Rounding decides when the threshold is reached, and it changes the course of BiCGStab.
    const std::int64_t part = method == KrylovMethod::bicgstab ? 4 : single ? 10 : 50;
    const std::int64_t off = 1 + expected.iterations / part;
    CHECK_LE(std::abs(found.iterations - expected.iterations), off);
    CHECK_LT(found.residual, tolerance);
    const std::vector<Value> x = one->x();
    const std::vector<Value> of_graph = graph->x();
    double difference = 0;
    double norm = 0;
    for (Index i = 0; i < matrix.rows; ++i) {
        difference += std::pow(static_cast<double>(x[i]) - static_cast<double>(of_graph[i]), 2);
        norm += std::pow(static_cast<double>(of_graph[i]), 2);
    }
    CHECK_LT(std::sqrt(difference), (single ? 1e-1 : 1e-6) * std::sqrt(norm));
    const std::vector<double> history = one->history();
    REQUIRE(std::ssize(history) == found.iterations + 1);
    CHECK(history.front() == doctest::Approx(norm_of(b)).epsilon(1e-6));
    CHECK_EQ(history.back(), found.residual);

    // Again, in several launches, and with each kind of halo: the same bits.
    for (const HaloOfParts halo : {HaloOfParts::with_r, HaloOfParts::without_r}) {
        Solve<Value> again(device, matrix, plan, b, inverse, {}, halo);
        again->launch(0);
        CHECK_EQ(again->wait().iterations, 0);
        again->launch(3);
        CHECK_EQ(again->wait().iterations, std::min<std::int64_t>(3, found.iterations));
        for (int i = 0; i < 10; ++i) again->launch(4);
        again->launch(2000);
        CHECK_EQ(again->wait().iterations, found.iterations);
        CHECK(again->x() == x);
        CHECK(again->history() == history);
    }
}

/// The same matrix with values that f32 represents.
CsrMatrix exact_in_f32(CsrMatrix matrix) {
    for (double& value : matrix.values) value = static_cast<double>(static_cast<float>(value));
    return matrix;
}

/// The matrix with a larger diagonal, for which few iterations suffice.
CsrMatrix shifted(CsrMatrix matrix) {
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
            if (matrix.column_indices[k] == row) matrix.values[k] *= 1.25;
        }
    }
    return matrix;
}

SolveReport solve_with(Device& device, const CsrMatrix& matrix, SolveReport report, const std::vector<Recipe>& recipes) {
    report.options.timing.minimum_samples = 1;
    report.options.timing.minimum_seconds = 0;
    const SolvePlan plan{.matrix = matrix,
                         .b = right_hand_side(matrix.rows),
                         .catalogue = catalogue(),
                         .device = device,
                         .backends = {Backend::cuda}};
    solve_recipes(plan, recipes, report);
    return report;
}

}  // namespace

TEST_SUITE("krylov") {
    TEST_CASE("a persistent solve agrees with the graph, and gives the same bits each time") {
        const auto device = make_cuda_device();
        for (const Index side : {1, 2, 5, 18, 41, 150}) {
            CAPTURE(side);
            for (const bool jacobi : {false, true}) {
                CAPTURE(jacobi);
                check_like_graph<double>(*device, scaled_laplacian(side, 0), jacobi);
                check_like_graph<double>(*device, exact_in_f32(scaled_laplacian(side, 0)), jacobi);
                check_like_graph<float>(*device, scaled_laplacian(side, 0), jacobi);
            }
        }
    }

    TEST_CASE("a persistent solve by BiCGStab agrees with the graph, and gives the same bits each time") {
        const auto device = make_cuda_device();
        for (const Index side : {1, 2, 5, 18, 41, 150}) {
            CAPTURE(side);
            for (const bool jacobi : {false, true}) {
                CAPTURE(jacobi);
                const CsrMatrix matrix = scaled_laplacian(side, 0.3);
                check_like_graph<double>(*device, matrix, jacobi, KrylovMethod::bicgstab);
                check_like_graph<double>(*device, exact_in_f32(matrix), jacobi, KrylovMethod::bicgstab);
                check_like_graph<float>(*device, matrix, jacobi, KrylovMethod::bicgstab);
            }
        }
        const std::vector<double> b{3, 4};
        Solve<double> broken(*device, square_of(2, {{0, 1, 1}, {1, 0, -1}}), {KrylovMethod::bicgstab, 1e-12, 50}, b);
        broken->launch(50);
        CHECK(broken->wait().state == KrylovState::breakdown);  // shadow.q = 0
        CHECK_EQ(broken->wait().iterations, 0);

        const CsrMatrix matrix = scaled_laplacian(30, 0.3);
        const std::vector<double> right = right_hand_side(matrix.rows);
        Solve<double> again(*device, matrix, {KrylovMethod::bicgstab, 1e-8 * norm_of(right), 1000}, right);
        again->launch(10);
        const double before = again->wait().residual;
        CHECK_EQ(again->wait().iterations, 10);
        again->restart();
        CHECK(again->wait().residual == doctest::Approx(before).epsilon(1e-6));
        again->launch(1000);
        CHECK(again->wait().state == KrylovState::converged);
    }

    TEST_CASE("a persistent solve stores columns of nodes once") {
        const auto device = make_cuda_device();
        for (const Index unknowns : {2, 3}) {
            CAPTURE(unknowns);
            for (const Index side : {1, 7, 60}) {
                const CsrMatrix matrix = in_dense_blocks(scaled_laplacian(side, 0), unknowns);
                for (const bool jacobi : {false, true}) {
                    check_like_graph<double>(*device, matrix, jacobi);
                    check_like_graph<double>(*device, exact_in_f32(matrix), jacobi);
                    check_like_graph<float>(*device, matrix, jacobi);
                }
            }
        }
    }

    TEST_CASE("a persistent solve whose vectors are in registers, shared and global memory") {
        const auto device = make_cuda_device();
        const Index side = 1200;  // about 11,000 rows a multiprocessor of an H200
        for (const bool jacobi : {false, true}) {
            CAPTURE(jacobi);
            check_like_graph<double>(*device, shifted(scaled_laplacian(side, 0)), jacobi);
        }
    }

    TEST_CASE("a persistent solve whose parts read many elements of others") {
        const auto device = make_cuda_device();
        const CsrMatrix given = shifted(scaled_laplacian(700, 0));
        std::vector<Index> old_of_new(given.rows);  // neighbours are far apart: a part reads up to four elements a row
        for (Index i = 0; i < given.rows; ++i) old_of_new[i] = static_cast<Index>(Offset{i} * 211 % given.rows);
        const Permutation order = Permutation::from_old_of_new(old_of_new);
        const CsrMatrix matrix = permute(given, order, order);
        for (const bool jacobi : {false, true}) {
            CAPTURE(jacobi);
            check_like_graph<double>(*device, matrix, jacobi);
            check_like_graph<float>(*device, matrix, jacobi);
        }
    }

    TEST_CASE("a persistent solve that is limited or restarted") {
        const auto device = make_cuda_device();
        const CsrMatrix matrix = scaled_laplacian(30, 0);
        const std::vector<double> b = right_hand_side(matrix.rows);
        const double tolerance = 1e-8 * norm_of(b);
        Solve<double> limited(*device, matrix, {KrylovMethod::cg, tolerance, 5}, b);
        for (int i = 0; i < 4; ++i) limited->launch(3);
        CHECK_EQ(limited->wait().iterations, 5);
        CHECK(limited->wait().state == KrylovState::running);
        CHECK_EQ(limited->history().size(), 6);

        Solve<double> again(*device, matrix, {KrylovMethod::cg, tolerance, 1000}, b, {}, {0, 300, 600, 900});
        again->launch(10);
        const double before = again->wait().residual;
        again->restart();
        CHECK_EQ(again->wait().iterations, 10);
        CHECK(again->wait().residual == doctest::Approx(before).epsilon(1e-6));
        again->launch(1000);
        CHECK(again->wait().state == KrylovState::converged);
    }

    TEST_CASE("a persistent solver solves again, also a matrix that is divided in another order") {
        const auto device = make_cuda_device();
        const CsrMatrix matrix = scaled_laplacian(40, 0);
        const std::vector<double> b = right_hand_side(matrix.rows);
        const KrylovPlan plan{KrylovMethod::cg, 1e-9 * norm_of(b), 2000};
        std::vector<Index> order(matrix.rows);
        for (Index i = 0; i < matrix.rows; ++i) order[i] = static_cast<Index>(Offset{i} * 7 % matrix.rows);
        const DeviceMemory there = to_device(*device, std::span<const Index>(order), "an order");
        for (const bool jacobi : {false, true}) {
            const std::vector<double> inverse = jacobi ? inverse_diagonal<double>(matrix) : std::vector<double>();
            Solve<double> natural(*device, matrix, plan, b, inverse);
            natural->launch(2000);
            REQUIRE(natural->wait().state == KrylovState::converged);
            const std::vector<double> expected = natural->x();
            const auto solver = make_persistent_solver<double>(
                *device, {.matrix = &matrix, .old_of_new = there.as<const Index>(), .preconditioned = jacobi});
            const std::vector<double> zero(b.size());
            const auto solve = solver->begin(plan, std::span<const double>(zero), std::span<const double>(inverse));
            CHECK(solve->wait().state == KrylovState::converged);
            for (const double factor : {1.0, 4.0, -1.0}) {
                std::vector<double> scaled = b;
                for (double& value : scaled) value *= factor;
                DeviceMemory to(solve->right_hand_side(), scaled.size() * sizeof(double), [](void*) {});
                device->upload(std::as_bytes(std::span(scaled)), to);
                CHECK(solve->begin_again(1e-9) == doctest::Approx(norm_of(scaled)));
                CHECK_EQ(solve->wait().iterations, 0);
                solve->launch(2000);
                const KrylovProgress found = solve->wait();
                CHECK(found.state == KrylovState::converged);
                CHECK_LE(std::abs(found.iterations - natural->wait().iterations), 2 + found.iterations / 20);
                CHECK_EQ(solve->history().size(), found.iterations + 1);
                const std::vector<double> x = solve->x();
                for (std::size_t i = 0; i < x.size(); ++i) CHECK(x[i] == doctest::Approx(factor * expected[i]).epsilon(1e-6));
                std::vector<double> copied(x.size());
                device->download({solve->solution(), x.size() * sizeof(double), [](void*) {}},
                                 std::as_writable_bytes(std::span(copied)));
                CHECK(copied == x);
            }
        }
    }

    TEST_CASE("persistent solves that cannot converge end with the reason") {
        const auto device = make_cuda_device();
        const auto end_of = [&](const CsrMatrix& matrix, const std::vector<double>& b,
                                const std::vector<double>& inverse = {}) {
            Solve<double> solve(*device, matrix, {KrylovMethod::cg, 1e-12, 50}, b, inverse);
            solve->launch(50);
            return solve->wait();
        };
        const CsrMatrix indefinite = square_of(3, {{0, 0, 1}, {1, 1, -2}, {2, 2, 1}});
        const KrylovProgress negative = end_of(indefinite, {1, 2, 1});
        CHECK(negative.state == KrylovState::indefinite);
        CHECK_EQ(negative.divisor, 1 - 8 + 1);  // p.Ap with p = b
        CHECK_EQ(negative.iterations, 0);
        CHECK(end_of(indefinite, {1, 2, 1}, {1, -0.5, 1}).state == KrylovState::indefinite);
        CHECK(end_of(square_of(2, {{0, 0, 1}}), {0, 1}).state == KrylovState::indefinite);
        const CsrMatrix identity = square_of(2, {{0, 0, 1}, {1, 1, 1}});
        CHECK(end_of(identity, {0, 0}).state == KrylovState::converged);
        CHECK_EQ(end_of(identity, {0, 0}).iterations, 0);
        CHECK(end_of(identity, {1, std::nan("")}).state == KrylovState::breakdown);
        CHECK(end_of(identity, {1, 2}, {1, std::nan("")}).state == KrylovState::breakdown);
        CHECK_EQ(end_of(identity, {3, 4}).iterations, 1);
    }

    TEST_CASE("a matrix that does not fit on the multiprocessors is refused") {
        const auto device = make_cuda_device();
        std::vector<Entry> entries;
        for (Index i = 0; i < 200000; ++i) entries.push_back({0, i, 1});
        const CsrMatrix matrix = square_of(200000, entries);
        const std::string reason =
            message_of<Unsuitable>([&] { (void)make_persistent_solver<double>(*device, {.matrix = &matrix}); });
        CHECK(reason.find("elements of other parts") != std::string::npos);
    }

    TEST_CASE("recipes solve with each engine") {
        const auto device = make_cuda_device();
        const CsrMatrix matrix = scaled_laplacian(50, 0);
        const auto recipe = [](const std::string& text) { return parse_recipe("[recipe]\n" + text, "t.toml", catalogue()); };
        const std::vector<Recipe> recipes{
            recipe("name = 'a'\n[[stage]]\nuse = 'cuthill_mckee'\n[layout]\nuse = 'sell'\n"),
            recipe("name = 'b'\n[[stage]]\nuse = 'metis_partition'\nparts = 16\n[layout]\nuse = 'csr'\n")};
        for (const SolveEngine engine : {SolveEngine::graph, SolveEngine::persistent, SolveEngine::automatic}) {
            CAPTURE(name_of(engine));
            SolveReport asked;
            asked.options.engine = engine;
            const SolveReport report = solve_with(*device, matrix, asked, recipes);
            REQUIRE(report.failures.empty());
            REQUIRE(report.outcomes.size() == 3);
            CHECK(report.outcomes[0].engine == SolveEngine::graph);  // the baseline
            for (const SolveOutcome& one : report.outcomes) {
                CHECK(one.solved());
                CHECK_LT(one.true_residual, 1.1e-8);
                if (!one.baseline && engine != SolveEngine::automatic) CHECK(one.engine == engine);
                CHECK_LE(std::abs(one.iterations - report.outcomes[0].iterations), 3);
            }
        }
    }

    TEST_CASE("rounded values are refined, whoever prepares them, by a graph and around a persistent kernel") {
        const auto device = make_cuda_device();
        CsrMatrix matrix = scaled_laplacian(30, 0);
        for (double& value : matrix.values) value *= 1.1;  // f32 represents no value
        std::vector<Recipe> recipes;
        for (const std::string prepare : {"cpu", "gpu"}) {
            for (const std::string values : {"full", "rounded_f32", "rounded_bf16"}) {
                recipes.push_back(parse_recipe("[recipe]\nname = 'a'\nprepare = '" + prepare +
                                                   "'\n[[stage]]\nuse = 'cuthill_mckee'\n[layout]\nuse = "
                                                   "'sell'\ncolumn_index = 'u16'\nvalues = '" +
                                                   values + "'\n",
                                               "t.toml", catalogue()));
            }
        }
        for (const SolveEngine engine : {SolveEngine::graph, SolveEngine::persistent}) {
            for (const KrylovMethod method : {KrylovMethod::cg, KrylovMethod::bicgstab}) {
                for (const bool jacobi : {false, true}) {
                    CAPTURE(name_of(method));
                    SolveReport asked;
                    asked.options.engine = engine;
                    asked.options.method = method;
                    asked.options.jacobi = jacobi;
                    asked.options.tolerance = 1e-11;
                    const SolveReport report = solve_with(*device, matrix, asked, recipes);
                    REQUIRE(report.failures.empty());
                    REQUIRE(report.outcomes.size() == 7);
                    for (std::size_t i = 1; i < report.outcomes.size(); ++i) {
                        const SolveOutcome& one = report.outcomes[i];
                        CAPTURE(one.reason);
                        CAPTURE(i);
                        CHECK(one.engine == engine);
                        CHECK(one.end == SolveEnd::converged);
                        CHECK_LE(one.true_residual, 1.1e-11);
                        if (i % 3 != 1) CHECK_GE(one.restarts, 1);
                        const auto is_there = [](const std::string& note) { return note.starts_with("prepared on the GPU: "); };
                        CHECK(std::ranges::any_of(one.preparation.notes, is_there) == (i > 3));
                        if (i <= 3) continue;
                        const std::optional<RoundingError>& rounding = one.preparation.rounding;
                        const std::optional<RoundingError>& of_host = report.outcomes[i - 3].preparation.rounding;
                        REQUIRE(rounding.has_value() == of_host.has_value());
                        if (!rounding) continue;
                        CHECK(rounding->largest == of_host->largest);
                        CHECK(rounding->norm == doctest::Approx(of_host->norm).epsilon(1e-12));
                        CHECK(one.preparation.bytes == report.outcomes[i - 3].preparation.bytes);
                        CHECK(one.preparation.bytes_in_full == report.outcomes[i - 3].preparation.bytes_in_full);
                    }
                }
            }
        }
    }

    TEST_CASE("solves by a persistent kernel end as those by a graph do") {
        const auto device = make_cuda_device();
        const std::vector<Recipe> recipes{
            parse_recipe("[recipe]\nname = 'csr'\n[layout]\nuse = 'csr'\n", "t.toml", catalogue())};
        const auto solve = [&](const CsrMatrix& matrix, Precision precision, double tolerance, std::int64_t most) {
            SolveReport asked;
            asked.precision = precision;
            asked.options.engine = SolveEngine::persistent;
            asked.options.tolerance = tolerance;
            asked.options.most_iterations = most;
            const SolveReport report = solve_with(*device, matrix, asked, recipes);
            REQUIRE(report.outcomes.size() == 2);
            const SolveOutcome& one = report.outcomes[1];
            CHECK(one.engine == SolveEngine::persistent);
            CHECK(one.end == report.outcomes[0].end);
            return one;
        };
        const CsrMatrix matrix = scaled_laplacian(30, 0);
        CHECK(solve(matrix, Precision::f64, 1e-8, 20).end == SolveEnd::iteration_limit);
        const SolveOutcome inaccurate = solve(matrix, Precision::f32, 1e-10, 5000);
        CHECK(inaccurate.end == SolveEnd::stagnated);
        CHECK(inaccurate.restarts > 0);
        CHECK(solve(square_of(3, {{0, 0, 1}, {1, 1, -2}, {2, 2, 1}}), Precision::f64, 1e-8, 20).end == SolveEnd::indefinite);
    }
}

// Without a graph: racecheck crashes on some graphs with loops.
TEST_SUITE("shared_memory") {
    TEST_CASE("a persistent solve") {
        const auto device = make_cuda_device();
        const CsrMatrix matrix = scaled_laplacian(12, 0);  // five thread blocks; racecheck is slow while they wait
        const std::vector<double> b = right_hand_side(matrix.rows);
        for (const bool jacobi : {false, true}) {
            const std::vector<double> inverse = jacobi ? inverse_diagonal<double>(matrix) : std::vector<double>();
            for (const HaloOfParts halo : {HaloOfParts::with_r, HaloOfParts::without_r}) {
                Solve<double> solve(*device, matrix, {KrylovMethod::cg, 1e-8 * norm_of(b), 1000}, b, inverse, {}, halo);
                solve->launch(1000);
                CHECK(solve->wait().state == KrylovState::converged);
            }
            Solve<double> narrow(*device, exact_in_f32(matrix), {KrylovMethod::cg, 1e-8 * norm_of(b), 1000}, b, inverse);
            narrow->launch(1000);
            CHECK(narrow->wait().state == KrylovState::converged);
            Solve<float> single(*device, matrix, {KrylovMethod::cg, 1e-4 * norm_of(b), 1000}, b, inverse);
            single->launch(1000);
            CHECK(single->wait().state == KrylovState::converged);
            Solve<double> bicgstab(*device, scaled_laplacian(12, 0.3), {KrylovMethod::bicgstab, 1e-8 * norm_of(b), 1000}, b,
                                   inverse);
            bicgstab->launch(1000);
            CHECK(bicgstab->wait().state == KrylovState::converged);
        }
    }
}

}  // namespace workbench
