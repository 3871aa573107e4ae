#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/matrix/battery.hpp"
#include "core/matrix/host_threads.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/engine/kernel_choice.hpp"
#include "ranks/ranks.hpp"
#include "studies/distributed/collective.hpp"
#include "studies/distributed/messages.hpp"
#include "studies/distributed/run_across.hpp"
#include "studies/solve/prepared_solver.hpp"
#include "studies/solve/solve_recipes.hpp"
#include "support/cut_out.hpp"
#include "support/layouts/krylov_problems.hpp"
#include "support/layouts/layout_recipes.hpp"

namespace workbench {
namespace {

/// This rank's piece of a matrix that all ranks have.
RankRows pieces_of(const CsrMatrix& whole) {
    Ranks& ranks = test_ranks();
    return in_equal_pieces(ranks, whole.rows, cut_out(whole, equal_piece(whole.rows, ranks.size(), ranks.rank())));
}

/// The numbers of all ranks in one list.
std::vector<double> from_all(const std::vector<double>& mine) {
    MessageWriter writer;
    writer.put_all(std::span<const double>(mine));
    std::vector<double> all;
    for (const Bytes& bytes : test_ranks().gather(writer.bytes())) {
        const auto part = MessageReader(bytes).get_all<double>();
        all.insert(all.end(), part.begin(), part.end());
    }
    return all;
}

RanksPlan plan_for(const Recipe& recipe, Device& device, Links& links) {
    return {.ranks = test_ranks(),
            .links = links,
            .device = device,
            .recipe = recipe,
            .kernels = choose_kernels(recipe, {device.properties().kind}),
            .outside_layout = *catalogue().find_layout("sell")};
}

Recipe csr_recipe(Device& device) { return baseline_recipe(catalogue(), device.properties().kind, false); }

/// This rank's rows of y = A x.
template <ValueType Value>
std::vector<double> product_of(RankProduct<Value>& product, const RankShares& shares, Device& device, bool square,
                               const std::vector<double>& x) {
    std::vector<Value> there(shares.inside.columns);
    for (Index i = 0; i < shares.inside.columns; ++i) {
        there[i] = static_cast<Value>(x[shares.first_column + product.element_at()[i]]);
    }
    const DeviceMemory from = to_device(device, std::span<const Value>(there), "x");
    std::vector<Value> y(shares.inside.rows, unwritten<Value>());
    DeviceMemory to = to_device(device, std::span<const Value>(y), "y");
    (void)device.time([&] { product.multiply(from.as<const Value>(), to.as<Value>()); });
    device.download(to, std::as_writable_bytes(std::span(y)));
    std::vector<double> back(y.size());
    for (std::size_t i = 0; i < y.size(); ++i) back[square ? product.element_at()[i] : static_cast<Index>(i)] = y[i];
    return back;
}

/// Compares a product over ranks with that of the whole matrix, on integers whose sums are exact.
template <ValueType Value>
void check_exactly(const CsrMatrix& matrix, const Recipe& recipe, Device& device, Links& links, const std::string& name) {
    const ExactProblem problem(matrix);
    CsrMatrix exact = matrix;
    exact.values = problem.values_of(matrix, Permutation::identity(matrix.rows), Permutation::identity(matrix.columns));
    const RanksPlan plan = plan_for(recipe, device, links);
    const RankShares shares = split_by_rank(test_ranks(), pieces_of(exact));
    RankProduct<Value> product(plan, shares);
    CHECK(product.exact_vectors() >= 2);
    CHECK(product.error_over_bound() <= 1);
    for (int vector = 0; vector < problem.vector_count(); ++vector) {
        std::vector<double> x(matrix.columns);
        for (Index column = 0; column < matrix.columns; ++column) x[column] = problem.x(vector, column);
        const std::vector<double> y = from_all(product_of(product, shares, device, matrix.square(), x));
        INFO(name);
        CHECK(y == problem.products(matrix)[vector]);
    }
}

const StageEntry& node_blocks() { return *catalogue().find_stage("node_blocks"); }

CsrMatrix laplacian(Index side) { return scaled_laplacian(side, 0); }

}  // namespace

TEST_CASE("ranks of one machine share its processors") {
    if (std::getenv("OMP_NUM_THREADS") != nullptr || std::getenv("KOKKOS_NUM_THREADS") != nullptr) return;
    const auto processors = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    const int here = test_ranks().ranks_on_machine();
    CHECK(here >= 1);
    CHECK(host_threads() * here <= std::max(processors, here));
}

TEST_CASE("ranks exchange messages") {
    Ranks& ranks = test_ranks();
    const double mine = 10.0 + ranks.rank();
    std::vector<double> all(ranks.size());
    ranks.gather(std::span(&mine, 1), all);
    for (int rank = 0; rank < ranks.size(); ++rank) CHECK(all[rank] == 10.0 + rank);

    // Messages of different lengths, including empty ones.
    std::vector<Bytes> to(ranks.size());
    for (int rank = 0; rank < ranks.size(); ++rank) {
        to[rank].assign(static_cast<std::size_t>(rank) * 3, static_cast<std::byte>(ranks.rank()));
    }
    const std::vector<Bytes> from = ranks.exchange(to);
    for (int rank = 0; rank < ranks.size(); ++rank) {
        CHECK(from[rank] == Bytes(static_cast<std::size_t>(ranks.rank()) * 3, static_cast<std::byte>(rank)));
    }
}

TEST_CASE("a failure of one rank is thrown on all, with the names of the ranks") {
    Ranks& ranks = test_ranks();
    const int last = ranks.size() - 1;
    std::string text;
    ExitCode exit_code = ExitCode::ok;
    try {
        (void)in_agreement(ranks, [&]() -> int {
            if (ranks.rank() == last) throw InputError("a bad row");
            return 1;
        });
    } catch (const RanksFailed& failure) {
        text = failure.what();
        exit_code = failure.exit_code;
    }
    CHECK(text == (ranks.size() == 1 ? "a bad row" : fmt::format("rank {} of {}: a bad row", last, ranks.size())));
    CHECK(exit_code == ExitCode::bad_input);
    CHECK(in_agreement(ranks, [&] { return ranks.rank(); }) == ranks.rank());

    text.clear();
    try {
        agree(ranks, Failure{ExitCode::bad_recipe, "the same"});
    } catch (const RanksFailed& failure) {
        text = failure.what();
    }
    CHECK(text == "the same");
}

TEST_CASE("a product is exact across ranks: the battery, as CSR, in both precisions") {
    on_each_device([](Device& device, Links& links) {
        const Recipe recipe = csr_recipe(device);
        for (const NamedMatrix& named : battery()) {
            check_exactly<double>(named.matrix, recipe, device, links, named.name);
            check_exactly<float>(named.matrix, recipe, device, links, named.name);
        }
    });
}

TEST_CASE("a product is exact across ranks: every layout and hybrid for the inside share") {
    const CsrMatrix matrix = laplacian(16);
    on_each_device([&](Device& device, Links& links) {
        int right = 0;
        std::set<std::string> refused;
        for (const std::vector<LayoutRecipe>* const list : {&layout_recipes(), &hybrid_recipes()}) {
            for (const LayoutRecipe& layout : *list) {
                if (!layout.takes(matrix) || choose_kernels(layout.recipe, {device.properties().kind}).empty()) continue;
                try {
                    check_exactly<double>(matrix, layout.recipe, device, links, layout.name);
                    ++right;
                } catch (const RanksFailed& failure) {
                    // A share may be unsuitable for a layout, but must not give a wrong result.
                    CHECK_MESSAGE(failure.exit_code == ExitCode::bad_input, layout.name, ": ", failure.what());
                    refused.insert(layout.name);
                }
            }
        }
        if (test_ranks().rank() == 0) INFO(fmt::format("refused: {}", fmt::join(refused, ", ")));
        CHECK(right > 30);
    });
}

TEST_CASE("each rank knows which elements it needs, and from which ranks") {
    // Tridiagonal: one element from each neighbour.
    Ranks& ranks = test_ranks();
    std::vector<Entry> entries;
    const Index size = 40;
    for (Index i = 0; i < size; ++i) {
        for (const Index j : {i - 1, i, i + 1}) {
            if (j >= 0 && j < size) entries.push_back({i, j, 1.0 + i + j});
        }
    }
    const RankShares shares = split_by_rank(ranks, pieces_of(square_of(size, entries)));
    const RowRange own = equal_piece(size, ranks.size(), ranks.rank());
    std::vector<Index> halo;
    if (own.first > 0) halo.push_back(own.first - 1);
    if (own.end < size) halo.push_back(own.end);
    CHECK(shares.halo_columns == halo);
    CHECK(shares.receive.size() == halo.size());
    CHECK(shares.send.size() == halo.size());
    CHECK(shares.outside.nonzeros() == static_cast<Offset>(halo.size()));
    CHECK(shares.inside.nonzeros() + shares.outside.nonzeros() == cut_out(square_of(size, entries), own).nonzeros());
}

TEST_CASE("a matrix of rank 0 is distributed to all ranks") {
    Ranks& ranks = test_ranks();
    for (const NamedMatrix& named : battery()) {
        const RankRows rows = scatter(ranks, ranks.rank() == 0 ? named.matrix : CsrMatrix());
        INFO(named.name);
        CHECK(rows.matrix == cut_out(named.matrix, equal_piece(named.matrix.rows, ranks.size(), ranks.rank())));
        CHECK(rows.rows() == named.matrix.rows);
        CHECK(rows.columns() == named.matrix.columns);
    }
}

TEST_CASE("a partition assigns each row to one rank and changes only its number") {
    Ranks& ranks = test_ranks();
    const CsrMatrix matrix = laplacian(24);
    for (const char* name : {"metis_partition", "multilevel_partition"}) {
        INFO(name);
        const RankRows rows = partition(ranks, pieces_of(matrix), node_blocks(), *catalogue().find_stage(name));
        if (ranks.size() == 1) continue;
        std::vector<double> numbers;
        for (const Index row : rows.rows_of_input) numbers.push_back(row);
        const std::vector<double> input_of = from_all(numbers);
        std::vector<double> sorted = input_of;
        std::sort(sorted.begin(), sorted.end());
        std::vector<double> all(matrix.rows);
        std::iota(all.begin(), all.end(), 0.0);
        CHECK(sorted == all);
        CHECK(static_cast<Index>(numbers.size()) == rows.matrix.rows);
        for (Index row = 0; row < rows.matrix.rows; ++row) {
            std::map<Index, double> here;
            std::map<Index, double> input;
            for (Offset i = rows.matrix.row_offsets[row]; i < rows.matrix.row_offsets[row + 1]; ++i) {
                here[static_cast<Index>(input_of[rows.matrix.column_indices[i]])] = rows.matrix.values[i];
            }
            const Index of_input = rows.rows_of_input[row];
            for (Offset i = matrix.row_offsets[of_input]; i < matrix.row_offsets[of_input + 1]; ++i) {
                input[matrix.column_indices[i]] = matrix.values[i];
            }
            if (here != input) CHECK(here == input);
            const auto columns = rows.matrix.row_columns(row);
            if (!std::is_sorted(columns.begin(), columns.end())) CHECK(std::is_sorted(columns.begin(), columns.end()));
        }
        // Parts of a graph have shorter borders than equal pieces.
        const RankShares parts = split_by_rank(ranks, rows);
        const RankShares strips = split_by_rank(ranks, pieces_of(matrix));
        const auto total = [](const RankShares& shares) {
            const std::vector<double> all_ranks = from_all({static_cast<double>(shares.halo_columns.size())});
            return std::accumulate(all_ranks.begin(), all_ranks.end(), 0.0);
        };
        const double of_parts = total(parts);
        const double of_strips = total(strips);
        if (ranks.size() >= 4) CHECK(of_parts < of_strips);
    }
}

TEST_CASE("the unknowns of a node stay on one rank") {
    Ranks& ranks = test_ranks();
    const GeneratorEntry& generator = *catalogue().find_generator("elasticity3d");
    const CsrMatrix matrix = generator.generate(Parameters(generator.parameters, {{"nx", std::int64_t{5}}}));
    for (const char* name : {"metis_partition", "multilevel_partition"}) {
        const RankRows rows = partition(ranks, pieces_of(matrix), node_blocks(), *catalogue().find_stage(name));
        INFO(name);
        if (ranks.size() == 1) continue;
        CHECK(rows.matrix.rows % 3 == 0);
        for (std::size_t i = 0; i + 2 < rows.rows_of_input.size(); i += 3) {
            if (rows.rows_of_input[i] % 3 == 0 && rows.rows_of_input[i + 1] == rows.rows_of_input[i] + 1 &&
                rows.rows_of_input[i + 2] == rows.rows_of_input[i] + 2) {
                continue;
            }
            CHECK(rows.rows_of_input[i] % 3 == 0);
            CHECK(rows.rows_of_input[i + 1] == rows.rows_of_input[i] + 1);
        }
    }
}

TEST_CASE("an invalid partition is an error on all ranks") {
    Ranks& ranks = test_ranks();
    if (ranks.size() == 1) return;
    const StageEntry& stage = *catalogue().find_stage("metis_partition");
    const CsrMatrix tall = csr_from_entries(30, 20, std::vector<Entry>{{3, 4, 1.0}});
    CHECK_THROWS_WITH_AS(
        (void)partition(ranks, pieces_of(tall), node_blocks(), stage),
        "stage metis_partition needs a square matrix; this one has 30 rows and 20 columns: use --rows-to-ranks equal",
        RanksFailed);
    const CsrMatrix small = square_of(1, {{0, 0, 1.0}});
    CHECK_THROWS_AS((void)partition(ranks, pieces_of(small), node_blocks(), stage), RanksFailed);
}

TEST_CASE("a solve across ranks ends like that of one rank, with the same solution") {
    const CsrMatrix matrix = laplacian(30);
    const std::vector<double> b = right_hand_side(matrix.rows);
    on_each_device([&](Device& device, Links& links) {
        const Recipe recipe = csr_recipe(device);
        const bool on_gpu = device.properties().kind == DeviceKind::gpu;
        for (const SolveEngine engine : {SolveEngine::graph, SolveEngine::persistent, SolveEngine::automatic}) {
            for (const bool jacobi : {false, true}) {
                SolveAcross solve{{}, [&](Index row) { return b[row]; }};
                solve.options.jacobi = jacobi;
                solve.options.tolerance = 1e-10;
                solve.options.engine = engine;
                const auto run = [&] {
                    return run_across<double>(plan_for(recipe, device, links), pieces_of(matrix), {}, solve, 2);
                };
                if (engine == SolveEngine::persistent && !on_gpu) {
                    CHECK_THROWS_AS((void)run(), RanksFailed);
                    continue;
                }
                const RanksReport report = run();
                CHECK(report.solve.has_value());
                if (!report.solve) continue;
                if (engine != SolveEngine::automatic) CHECK(report.solve->engine == engine);
                CHECK_EQ(report.notes.empty(), engine != SolveEngine::automatic || !on_gpu);
                CHECK(report.solve->end == SolveEnd::converged);
                CHECK(report.solve->true_residual < 1.5e-10);
                CHECK(report.ranks.size() == static_cast<std::size_t>(test_ranks().size()));

                // The same system on this rank only, by CG with two reductions per iteration.
                const System<double> system(matrix, b);
                Multiplier<double> multiplier(recipe, matrix, {.device = device, .filter = {.kind = device.properties().kind}});
                PreparedSolver<double> solver(system, multiplier, device, solve.options);
                const SolveOutcome alone = workbench::solve(solver, solve.options);
                CHECK(std::abs(report.solve->iterations - alone.iterations) <= 1 + alone.iterations / 20);
                const std::vector<double> x = from_all(report.solve->x);
                double difference = 0;
                double size = 0;
                for (std::size_t i = 0; i < x.size(); ++i) {
                    difference = std::max(difference, std::abs(x[i] - alone.x[i]));
                    size = std::max(size, std::abs(alone.x[i]));
                }
                CHECK(x.size() == alone.x.size());
                CHECK(difference <= 1e-7 * size);
            }
        }
    });
}

TEST_CASE("a failed solve gives its reason on all ranks") {
    on_each_device([&](Device& device, Links& links) {
        const Recipe recipe = csr_recipe(device);
        const auto solve_of = [&](const CsrMatrix& matrix, std::int64_t most) {
            SolveAcross solve{{}, [](Index) { return 1.0; }};
            solve.options.most_iterations = most;
            return *run_across<double>(plan_for(recipe, device, links), pieces_of(matrix), {}, solve, 1).solve;
        };
        std::vector<Entry> entries;
        for (Index i = 0; i < 50; ++i) entries.push_back({i, i, i % 2 == 0 ? 1.0 : -1.0 - i});
        CHECK(solve_of(square_of(50, entries), 100).end == SolveEnd::indefinite);
        const RanksSolve few = solve_of(laplacian(30), 5);
        CHECK(few.end == SolveEnd::iteration_limit);
        CHECK(few.iterations == 5);
        CHECK(few.history.size() == 6);
    });
}

TEST_CASE("persistent kernels of several ranks: few rows, restarts, each kind of end") {
    on_each_device([&](Device& device, Links& links) {
        if (device.properties().kind != DeviceKind::gpu) return;
        const Recipe recipe = csr_recipe(device);
        const auto solve_of = [&]<typename Value>(const CsrMatrix& matrix, SolveOptions options, Value) {
            options.engine = SolveEngine::persistent;
            const SolveAcross solve{options, [](Index row) { return 1.0 + row % 3; }};
            return *run_across<Value>(plan_for(recipe, device, links), pieces_of(matrix), {}, solve, 1).solve;
        };
        SolveOptions options;
        for (const Index side : {1, 2, 9, 120}) {
            const RanksSolve solve = solve_of(laplacian(side), options, 0.0);
            CHECK(solve.end == SolveEnd::converged);
            CHECK(solve.true_residual < 1.5e-8);
        }
        std::vector<Entry> entries;
        for (Index i = 0; i < 50; ++i) entries.push_back({i, i, i % 2 == 0 ? 1.0 : -1.0 - i});
        CHECK(solve_of(square_of(50, entries), options, 0.0).end == SolveEnd::indefinite);
        options.most_iterations = 5;
        const RanksSolve few = solve_of(laplacian(30), options, 0.0);
        CHECK(few.end == SolveEnd::iteration_limit);
        CHECK(few.history.size() == 6);
        options.most_iterations = 5000;
        options.tolerance = 1e-10;
        const RanksSolve inaccurate = solve_of(laplacian(30), options, 0.0F);
        CHECK(inaccurate.end == SolveEnd::stagnated);
        CHECK(inaccurate.restarts > 0);
    });
}

TEST_CASE("the report contains the measurements of each rank") {
    const CsrMatrix matrix = laplacian(40);
    on_each_device([&](Device& device, Links& links) {
        const Recipe recipe = csr_recipe(device);
        RanksReport report = run_across<float>(plan_for(recipe, device, links), pieces_of(matrix), {}, {}, 3);
        std::int64_t rows = 0;
        std::int64_t nonzeros = 0;
        std::int64_t sent = 0;
        std::int64_t received = 0;
        for (const RankFacts& facts : report.ranks) {
            rows += facts.rows;
            nonzeros += facts.nonzeros();
            sent += facts.sent;
            received += facts.halo;
            CHECK(facts.product_seconds > 0);
            CHECK(facts.hidden() >= 0);
            CHECK(facts.hidden() <= 1);
        }
        CHECK(rows == matrix.rows);
        CHECK(nonzeros == matrix.nonzeros());
        CHECK(sent == received);
        CHECK((sent > 0) == (test_ranks().size() > 1));
        CHECK_FALSE(report.solve.has_value());
        report.matrix.source = "a grid";
        const std::string text = ranks_text(report);
        CHECK(text.find(fmt::format("over {} rank", test_ranks().size())) != std::string::npos);
        CHECK(ranks_json(report).find("\"exchange_hidden\"") != std::string::npos);
    });
}

}  // namespace workbench
