// Products and solves over ranks, which are fibers here, on a machine whose clock a script moves.
#include <doctest/doctest.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/exchange/make_links.hpp"
#include "kernels/host/host_device.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/engine/kernel_choice.hpp"
#include "pipeline/measure/verification.hpp"
#include "studies/distributed/collective.hpp"
#include "studies/distributed/run_across.hpp"
#include "studies/solve/prepared_solver.hpp"
#include "support/cut_out.hpp"
#include "support/layouts/krylov_problems.hpp"
#include "support/layouts/scripted.hpp"
#include "support/message_of.hpp"
#include "support/rank_fibers.hpp"

namespace workbench {
namespace {

RankRows piece_of(Ranks& ranks, const CsrMatrix& whole) {
    return in_equal_pieces(ranks, whole.rows, cut_out(whole, equal_piece(whole.rows, ranks.size(), ranks.rank())));
}

/// 1 on the diagonal and -0.25 beside it.
CsrMatrix tridiagonal(Index size) {
    std::vector<Entry> entries;
    for (Index i = 0; i < size; ++i) {
        entries.push_back({i, i, 1});
        if (i > 0) entries.push_back({i, i - 1, -0.25});
        if (i + 1 < size) entries.push_back({i, i + 1, -0.25});
    }
    return csr_from_entries(size, size, entries);
}

/// Links whose exchanges pass the script's time.
class ScriptedLinks final : public Links {
public:
    explicit ScriptedLinks(Links& links) : links_(links) {}

    [[nodiscard]] std::string engine() const override { return "a wire"; }
    [[nodiscard]] int ranks() const override { return links_.ranks(); }
    [[nodiscard]] std::unique_ptr<Exchange<float>> make_exchange_f32(const HaloPlan& plan) override {
        return std::make_unique<Passing<float>>(links_.make_exchange_f32(plan));
    }
    [[nodiscard]] std::unique_ptr<Exchange<double>> make_exchange_f64(const HaloPlan& plan) override {
        return std::make_unique<Passing<double>>(links_.make_exchange_f64(plan));
    }
    void gather(const double* mine, double* all, int count) override {
        links_.gather(mine, all, count);
        script().pass("gather");
    }

private:
    template <ValueType Value>
    class Passing final : public Exchange<Value> {
    public:
        explicit Passing(std::unique_ptr<Exchange<Value>> exchange) : exchange_(std::move(exchange)) {}
        void start(const Value* x) override {
            exchange_->start(x);
            script().pass("start exchange");
        }
        void finish() override {
            exchange_->finish();
            script().pass("finish exchange");
        }
        [[nodiscard]] const Value* halo() const override { return exchange_->halo(); }

    private:
        std::unique_ptr<Exchange<Value>> exchange_;
    };

    Links& links_;
};

/// Ranks whose messages of set-up and of true residuals pass the script's time.
class ScriptedRanks final : public Ranks {
public:
    explicit ScriptedRanks(Ranks& ranks) : ranks_(ranks) {}

    [[nodiscard]] int rank() const override { return ranks_.rank(); }
    [[nodiscard]] int size() const override { return ranks_.size(); }
    [[nodiscard]] int rank_on_machine() const override { return ranks_.rank_on_machine(); }
    [[nodiscard]] std::string engine() const override { return ranks_.engine(); }
    [[nodiscard]] std::vector<Bytes> gather(std::span<const std::byte> mine) override { return ranks_.gather(mine); }
    void gather(std::span<const double> mine, std::span<double> all) override { ranks_.gather(mine, all); }
    [[nodiscard]] std::vector<Bytes> exchange(const std::vector<Bytes>& to) override {
        std::vector<Bytes> received = ranks_.exchange(to);
        script().pass("messages");
        return received;
    }
    void start(std::span<const Outgoing> outgoing, std::span<const Incoming> incoming) override {
        ranks_.start(outgoing, incoming);
    }
    void finish() override { ranks_.finish(); }
    void barrier() override { ranks_.barrier(); }
    [[noreturn]] void end_all(ExitCode) override { throw std::logic_error("end_all"); }

private:
    Ranks& ranks_;
};

/// One rank of a scripted run.
struct ScriptedRank {
    explicit ScriptedRank(Ranks& ranks_of_run, const std::string& recipe_text)
        : ranks(ranks_of_run), recipe(parse_recipe(recipe_text, "some/test.toml", scripted_catalogue())) {}

    [[nodiscard]] RanksPlan plan() {
        return {.ranks = ranks,
                .links = links,
                .device = device,
                .recipe = recipe,
                .kernels = choose_kernels(recipe, {DeviceKind::host}),
                .outside_layout = *scripted_catalogue().find_layout("csr"),
                .clock = scripted_clock()};
    }

    ScriptedRanks ranks;
    Recipe recipe;
    ScriptedDevice device{{DeviceKind::host, "a host", 8, 0, 0, 0}};
    std::unique_ptr<Links> host_links = make_host_links(ranks, device);
    ScriptedLinks links{*host_links};
};

/// The reports of all ranks, which see the script's time each for itself.
template <ValueType Value>
std::vector<RanksReport> run_scripted(int size, const CsrMatrix& matrix, const std::optional<SolveAcross>& solve = {},
                                      const std::string& recipe = "[layout]\nuse = 'plain'\n") {
    std::vector<RanksReport> reports(size);
    on_rank_fibers(
        size,
        [&](Ranks& ranks) {
            ScriptedRank rank(ranks, recipe);
            reports[ranks.rank()] = run_across<Value>(rank.plan(), piece_of(ranks, matrix), {}, solve, 3);
        },
        &script().now);
    return reports;
}

std::string this_machine() {
    std::array<char, 256> name{};
    REQUIRE(gethostname(name.data(), name.size() - 1) == 0);
    return name.data();
}

}  // namespace

TEST_CASE("distributed: sums and maxima over ranks are those of all") {
    on_rank_fibers(3, [](Ranks& ranks) {
        const double mine = ranks.rank() == 1 ? -5 : 2.5 * ranks.rank();
        CHECK(of_each(ranks, mine) == std::vector<double>{0, -5, 5});
        CHECK(sum_of(ranks, mine) == 0);
        CHECK(largest_of(ranks, mine) == 5);
        CHECK(largest_of(ranks, -1 - mine) == 4);
    });
}

TEST_CASE("distributed: a matrix of as many rows as ranks is partitioned, one of fewer is refused") {
    const StageEntry& nodes = *catalogue().find_stage("node_blocks");
    const StageEntry& stage = *catalogue().find_stage("metis_partition");
    std::vector<Index> rows_of_input;
    on_rank_fibers(4, [&](Ranks& ranks) {
        const RankRows rows = partition(ranks, piece_of(ranks, tridiagonal(4)), nodes, stage);
        CHECK(rows.rows() == 4);
        CHECK_NOTHROW(check_csr(rows.matrix));
        rows_of_input.insert(rows_of_input.end(), rows.rows_of_input.begin(), rows.rows_of_input.end());
        CHECK(message_of<RanksFailed>([&] { (void)partition(ranks, piece_of(ranks, tridiagonal(3)), nodes, stage); }) ==
              "3 rows cannot be partitioned among 4 ranks: use --rows-to-ranks equal");
    });
    std::sort(rows_of_input.begin(), rows_of_input.end());
    CHECK(rows_of_input == std::vector<Index>{0, 1, 2, 3});
}

TEST_CASE("distributed: the times of each phase are those of the clock") {
    Script& script = new_script();
    script.seconds["run fast"] = {6};
    script.seconds["run usual"] = {2};
    script.seconds["scatter_add"] = {0.5};
    script.seconds["start exchange"] = {1};
    script.seconds["finish exchange"] = {3};
    script.seconds["stage reverse"] = {10};
    script.seconds["build plain"] = {20};
    // Each rank has 40 s for the outside share of the matrix and then 100 s for that of the exact problem.
    script.seconds["build csr"] = {40, 100, 40, 100, 40, 100};
    script.seconds["prepare fast"] = {700, 700, 700, 5};  // those of the exact problem come first
    const auto reports = run_scripted<float>(
        3, tridiagonal(9), {}, "[[stage]]\nuse = 'reverse'\n[layout]\nuse = 'plain'\n[kernel]\nkokkos = 'fast'\n");
    for (const RanksReport& report : reports) {
        CHECK(report.ranks.size() == 3);
        CHECK(report.precision == Precision::f32);
        CHECK(report.layout == "plain");
        CHECK(report.kernel == "fast");
        CHECK(report.engine == "fibers");
        CHECK(report.exchange_engine == "a wire");
        CHECK(report.samples == 3);
        CHECK(report.products_a_sample == 1);
        CHECK_FALSE(report.solve);
        REQUIRE(report.names.size() == 3);
        for (const RankName& name : report.names) {
            CHECK(name.device == "a host");
            CHECK(name.machine == this_machine());
        }
        for (std::size_t rank = 0; rank < report.ranks.size(); ++rank) {
            CAPTURE(rank);
            const RankFacts& facts = report.ranks[rank];
            const std::int64_t neighbours = rank == 1 ? 2 : 1;
            CHECK(facts.rows == 3);
            CHECK(facts.nonzeros_inside == 7);
            CHECK(facts.nonzeros_outside == neighbours);
            CHECK(facts.rows_outside == neighbours);
            CHECK(facts.halo == neighbours);
            CHECK(facts.sent == neighbours);
            CHECK(facts.neighbours == neighbours);
            CHECK(facts.stage_seconds == 10);
            CHECK(facts.build_seconds == 20);
            CHECK(facts.outside_seconds == 40);
            CHECK(facts.inside_seconds == 6);
            CHECK(facts.exchange_seconds == 4);
            CHECK(facts.outside_product_seconds == 2.5);
            CHECK(facts.product_seconds == 12.5);
            CHECK(facts.hidden() == 0);
            CHECK(facts.sum_seconds == 0);
            CHECK(facts.vector_bytes == 0);
        }
    }
}

TEST_CASE("distributed: a rank may send elements and receive none") {
    // Rank 0 has the rows 0 to 4 and needs the columns 8 and 9.
    std::vector<Entry> entries{{0, 8, 1.5}, {3, 9, 2.5}, {4, 9, 3.5}};
    for (Index i = 0; i < 10; ++i) entries.push_back({i, i, 1.25});
    new_script();
    const RanksReport report = run_scripted<double>(2, csr_from_entries(10, 10, entries)).front();
    CHECK(report.ranks[0].halo == 2);
    CHECK(report.ranks[0].sent == 0);
    CHECK(report.ranks[0].neighbours == 1);
    CHECK(report.ranks[0].rows_outside == 3);
    CHECK(report.ranks[1].halo == 0);
    CHECK(report.ranks[1].sent == 2);
    CHECK(report.ranks[1].neighbours == 0);
    CHECK(report.ranks[1].rows_outside == 0);
    const CsrMatrix tall = csr_from_entries(4, 1, std::vector<Entry>{{0, 0, 1.5}, {1, 0, 2}, {2, 0, 2.5}, {3, 0, 3}});
    CHECK(run_scripted<double>(2, tall).front().ranks[0].rows_outside == 2);
}

TEST_CASE("distributed: ranks verify with as many vectors as all columns need") {
    new_script();
    std::vector<Entry> entries;
    for (Index i = 0; i < 5000; ++i) entries.insert(entries.end(), {{0, i, 1}, {i, (i + 1) % 5000, 2}});
    entries.erase(entries.begin() + 1);  // twice
    const CsrMatrix matrix = csr_from_entries(5000, 5000, entries);
    REQUIRE(ExactProblem(matrix).vector_count() > 2);
    CHECK(run_scripted<double>(2, matrix).front().exact_vectors == ExactProblem(matrix).vector_count());
}

TEST_CASE("distributed: a wrong kernel is refused by products of integers, before other values") {
    new_script();
    const std::string wrong = message_of<RanksFailed>(
        [] { (void)run_scripted<double>(2, tridiagonal(8), {}, "[layout]\nuse = 'bad'\n[kernel]\nkokkos = 'wrong'\n"); });
    CHECK_MESSAGE(wrong.find("expected exactly") != std::string::npos, wrong);
}

TEST_CASE("distributed: the residuals of a solve are relative to |b|") {
    new_script();
    const CsrMatrix matrix = tridiagonal(40);
    for (const double size_of_b : {1000.0, 0.001}) {
        for (const std::int64_t most : {std::int64_t{3}, std::int64_t{1000}}) {
            SolveAcross solve{{}, [&](Index row) { return size_of_b * (1 + row % 3); }};
            solve.options.tolerance = 1e-9;
            solve.options.most_iterations = most;
            for (const RanksReport& report : run_scripted<double>(2, matrix, solve)) {
                REQUIRE(report.solve);
                CHECK(report.solve->end == (most == 3 ? SolveEnd::iteration_limit : SolveEnd::converged));
                CHECK(report.solve->history.front() == doctest::Approx(1));
                CHECK(report.solve->history.back() == report.solve->residual);
                CHECK(std::abs(report.solve->residual - report.solve->true_residual) < 1e-12);
                CHECK(report.solve->residual < (most == 3 ? 0.1 : 1e-9));
            }
        }
    }
}

namespace {

/// Three ranks, of which the last needs nothing of the others and so runs no kernel of an outside share.
CsrMatrix two_coupled_of_three(Index rows_of_rank) {
    CsrMatrix matrix = tridiagonal(3 * rows_of_rank);
    std::vector<Entry> entries;
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
            const Index column = matrix.column_indices[i];
            const bool to_last = (row >= 2 * rows_of_rank) != (column >= 2 * rows_of_rank);
            if (!to_last) entries.push_back({row, column, matrix.values[i]});
        }
    }
    return csr_from_entries(matrix.rows, matrix.columns, entries);
}

/// An iteration takes 12.5 s on the first two ranks, and 6 s on the last.
void script_iterations(double scale) {
    Script& script = new_script();
    script.seconds["run fast"] = {6 * scale};
    script.seconds["run usual"] = {2 * scale};
    script.seconds["scatter_add"] = {0.5 * scale};
    script.seconds["gather"] = {4 * scale};
}

}  // namespace

TEST_CASE("distributed: all ranks repeat a product as often as the slowest one allows") {
    script_iterations(1e-4);  // 0.85 ms on the first two ranks, 0.6 ms on the last: 23 fit 20 ms, 33 would fit on the last
    for (const RanksReport& report : run_scripted<double>(3, two_coupled_of_three(4))) {
        CHECK(report.products_a_sample == 23);
        CHECK(report.ranks[0].product_seconds == doctest::Approx(0.00085));
        CHECK(report.ranks[2].product_seconds == doctest::Approx(0.0006));
        CHECK(report.product_seconds() == doctest::Approx(0.00085));
        CHECK(report.ranks[2].halo == 0);
    }
}

TEST_CASE("distributed: a solve takes the time of the slowest rank, without checks of the true residual") {
    script_iterations(1);
    script().seconds["messages"] = {1000};
    SolveAcross solve{{}, [](Index row) { return 1.0 + row % 3; }};
    solve.options.tolerance = 1e-9;
    const auto reports = run_scripted<double>(3, two_coupled_of_three(20), solve);
    for (const RanksReport& report : reports) {
        REQUIRE(report.solve);
        CHECK(report.solve->end == SolveEnd::converged);
        const auto iterations = static_cast<double>(report.solve->iterations);
        CHECK(iterations > 5);
        // A product and a reduction per iteration.
        CHECK(report.solve->iteration_seconds() == doctest::Approx(12.5).epsilon(0.2));
        CHECK(report.solve->seconds == reports[0].solve->seconds);
        CHECK(report.ranks[0].sum_seconds == 4);
        CHECK(report.ranks[0].vector_bytes > 0);
    }
}

TEST_CASE("distributed: b belongs to the rows of the input, also after these were partitioned") {
    new_script();
    const CsrMatrix matrix = scaled_laplacian(8, 0);
    const auto b = [](Index row) { return 1.0 + 0.5 * (row % 11); };
    std::vector<double> x(matrix.rows);
    on_rank_fibers(3, [&](Ranks& ranks) {
        ScriptedRank rank(ranks, "[layout]\nuse = 'plain'\n");
        const RankRows rows = partition(ranks, piece_of(ranks, matrix), *catalogue().find_stage("node_blocks"),
                                        *catalogue().find_stage("metis_partition"));
        SolveAcross solve{{}, b};
        solve.options.tolerance = 1e-12;
        const RanksReport report = run_across<double>(rank.plan(), rows, {}, solve, 1);
        REQUIRE(report.solve);
        CHECK(report.solve->end == SolveEnd::converged);
        for (std::size_t i = 0; i < report.solve->x.size(); ++i) x[rows.rows_of_input[i]] = report.solve->x[i];
    });
    for (Index row = 0; row < matrix.rows; ++row) {
        double sum = 0;
        for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
            sum += matrix.values[i] * x[matrix.column_indices[i]];
        }
        CHECK(sum == doctest::Approx(b(row)));
    }
}

TEST_CASE("distributed: a solve restarts while that helps, and ends after `patience` iterations without progress") {
    script_iterations(1);  // such long iterations are launched one at a time
    SolveAcross solve{{}, [](Index row) { return 1.0 + row % 3; }};
    solve.options.tolerance = 1e-12;
    for (const RanksReport& report : run_scripted<float>(2, scaled_laplacian(10, 0), solve)) {
        REQUIRE(report.solve);
        CHECK(report.solve->end == SolveEnd::stagnated);  // f32 cannot reach this tolerance
        CHECK(report.solve->restarts > 0);
        CHECK(report.solve->reason.find("f32") != std::string::npos);
    }
    solve.options.tolerance = 1e-300;
    solve.options.patience = 2;  // the residual of conjugate gradients rises now and then
    for (const RanksReport& report : run_scripted<double>(2, scaled_laplacian(10, 0), solve)) {
        REQUIRE(report.solve);
        CHECK(report.solve->end == SolveEnd::stagnated);
        CHECK_MESSAGE(report.solve->reason.find("the last 2 of 4 iterations") != std::string::npos, report.solve->reason);
    }
}

TEST_CASE("distributed: a solve ends as on one device") {
    script_iterations(1e-3);  // several iterations in a launch
    const CsrMatrix matrix = scaled_laplacian(10, 0);
    std::vector<double> b;
    for (Index row = 0; row < matrix.rows; ++row) b.push_back(1.0 + row % 3);
    const Recipe recipe = parse_recipe("[layout]\nuse = 'plain'\n", "some/test.toml", scripted_catalogue());
    struct Asked {
        double tolerance;
        std::int64_t patience;
        std::int64_t most_iterations;
        SolveEnd end;
    };
    for (const Asked& asked : {Asked{1e-4, 1000, 1000, SolveEnd::converged}, Asked{1e-12, 1000, 1000, SolveEnd::stagnated},
                               Asked{1e-12, 2, 1000, SolveEnd::stagnated}, Asked{1e-4, 1000, 7, SolveEnd::iteration_limit}}) {
        CAPTURE(asked.tolerance);
        CAPTURE(asked.patience);
        SolveAcross solve{{}, [&](Index row) { return b[row]; }};
        solve.options.tolerance = asked.tolerance;
        solve.options.patience = asked.patience;
        solve.options.most_iterations = asked.most_iterations;
        solve.options.timing = {CacheState::warm, 1, 0, 0, scripted_clock()};
        const RanksSolve across = *run_scripted<float>(2, matrix, solve).front().solve;
        ScriptedDevice device({DeviceKind::host, "a host", 8, 0, 0, 0});
        const System<float> system(matrix, b);
        Multiplier<float> multiplier(recipe, matrix,
                                     {.device = device, .filter = {DeviceKind::host}, .clock = scripted_clock()});
        PreparedSolver<float> solver(system, multiplier, device, solve.options);
        const SolveOutcome alone = workbench::solve(solver, solve.options);
        CHECK(across.end == asked.end);
        CHECK(alone.end == asked.end);
        CHECK((across.restarts > 0) == (alone.restarts > 0));
        if (asked.patience == 2) CHECK(across.iterations == alone.iterations);
    }
}

TEST_CASE("distributed: the largest error of all vectors and ranks is reported, over its bound") {
    new_script();
    // Rounding errors in f32 that are larger with the first vector for some matrices, with the second for others.
    const std::unique_ptr<Device> host = make_host_device();
    int larger_at_first = 0;
    int larger_at_last = 0;
    int of_other_rank = 0;
    for (int variant = 0; variant < 6; ++variant) {
        CsrMatrix matrix = tridiagonal(20);
        for (std::size_t i = 0; i < matrix.values.size(); ++i) matrix.values[i] = std::sqrt(2.0 + variant + i % 7);
        std::vector<std::vector<double>> errors(2, std::vector<double>(2));  // [ranks][vectors]
        std::vector<double> reported(2);
        on_rank_fibers(2, [&](Ranks& ranks) {
            ScriptedRank rank(ranks, "[layout]\nuse = 'plain'\n[kernel]\nkokkos = 'fast'\n");
            const RanksPlan plan = rank.plan();
            const RankShares shares = split_by_rank(ranks, piece_of(ranks, matrix));
            RankProduct<float> product(plan, shares);
            reported[ranks.rank()] = product.error_over_bound();
            const RowRange own = equal_piece(matrix.rows, 2, ranks.rank());
            for (const std::uint32_t seed : {1U, 2U}) {
                const std::vector<double> all = real_vector(matrix.columns, seed);
                std::vector<float> x(all.begin() + own.first, all.begin() + own.end);
                std::vector<float> y(x.size());
                product.multiply(x.data(), y.data());
                const std::vector<double> r = bounded_reference<double>(matrix, all).r;
                // A bound for each share of a row.
                const BoundedReference inside = bounded_reference<float>(shares.inside, {x.begin(), x.end()});
                std::vector<double> halo;
                for (const Index column : shares.halo_columns) halo.push_back(all[column]);
                const BoundedReference outside = bounded_reference<float>(shares.outside, halo);
                for (std::size_t i = 0; i < y.size(); ++i) {
                    double bound = inside.bound[i];
                    for (std::size_t k = 0; k < shares.outside_rows.size(); ++k) {
                        if (shares.outside_rows[k] == static_cast<Index>(i)) bound += outside.bound[k];
                    }
                    double& error = errors[ranks.rank()][seed - 1];
                    error = std::max(error, std::abs(y[i] - r[own.first + i]) / bound);
                }
            }
        });
        for (std::size_t rank = 0; rank < 2; ++rank) {
            const double largest = std::max({errors[0][0], errors[0][1], errors[1][0], errors[1][1]});
            CHECK(reported[rank] == doctest::Approx(largest).epsilon(1e-6));
            const double own = std::max(errors[rank][0], errors[rank][1]);
            if (own < largest) ++of_other_rank;
            if (own == largest) ++(errors[rank][0] > errors[rank][1] ? larger_at_first : larger_at_last);
        }
    }
    CHECK(larger_at_first > 0);
    CHECK(larger_at_last > 0);
    CHECK(of_other_rank > 0);
}

}  // namespace workbench
