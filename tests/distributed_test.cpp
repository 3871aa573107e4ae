// The report of a distributed run: each figure in text and JSON, worked out by hand.
#include <doctest/doctest.h>

#include <string>

#include <nlohmann/json.hpp>

#include "studies/distributed/rank_report.hpp"
#include "support/golden.hpp"

namespace workbench {
namespace {

const std::string golden_reports = std::string(WORKBENCH_SOURCE_DIR) + "/tests/golden/distributed/";

/// Rank i has i + 1 times the figures of rank 0, except for the last one, which has those of rank 0.
RankFacts facts_of_rank(std::int64_t times) {
    const auto t = static_cast<double>(times);
    return {.rows = 1000 * times,
            .nonzeros_inside = 7000 * times,
            .nonzeros_outside = 500 * times,
            .rows_outside = 60 * times,
            .halo = 40 * times,
            .sent = 30 * times,
            .neighbours = times % 5,
            .read_seconds = 1 * t,
            .distribute_seconds = 2 * t,
            .stage_seconds = 3 * t,
            .build_seconds = 4 * t,
            .copy_seconds = 5 * t,
            .outside_seconds = 6 * t,
            .product_seconds = 0.010 * t,
            .inside_seconds = 0.006 * t,
            .exchange_seconds = 0.005 * t,
            .outside_product_seconds = 0.002 * t,
            .sum_seconds = 0.001 * t,
            .vector_bytes = 9000 * times};
}

RanksReport report_of_ranks(int ranks, Precision precision) {
    RanksReport report;
    report.outside_layout = "sell";
    report.matrix = {.source = "a.mtx", .rows = 120000, .columns = 120000, .nonzeros = 900000, .read_seconds = 0};
    report.recipe = "some";
    report.layout = "ehyb";
    report.kernel = "fused";
    report.precision = precision;
    report.partitioning = "equal pieces";
    report.engine = "Open MPI v4.1.4";
    report.exchange_engine = "a wire";
    report.exact_vectors = 3;
    report.error_over_bound = 0.0234;
    report.samples = 5;
    report.products_a_sample = 77;
    for (int rank = 0; rank < ranks; ++rank) {
        report.names.push_back({"machine" + std::to_string(rank), "device" + std::to_string(rank)});
        report.ranks.push_back(facts_of_rank(rank + 1 == ranks ? 1 : rank + 1));
    }
    return report;
}

/// The lines of the text that contain `part`.
std::string lines_with(const std::string& text, const std::string& part) {
    std::string found;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        const std::string line = text.substr(begin, end - begin);
        if (line.find(part) != std::string::npos) found += line + "\n";
        begin = end + 1;
    }
    return found;
}

}  // namespace

TEST_CASE("distributed: the text of 18 ranks in f32, with a solve") {
    RanksReport report = report_of_ranks(18, Precision::f32);
    report.notes = {"of rank 0"};
    report.solve = RanksSolve{.end = SolveEnd::converged,
                              .reason = "",
                              .iterations = 1200,
                              .restarts = 2,
                              .residual = 6.81e-9,
                              .true_residual = 7.12e-9,
                              .history = {1, 6.81e-9},
                              .seconds = 24,
                              .x = {},
                              .right_hand_side = "ones",
                              .tolerance = 1e-8,
                              .jacobi = true};
    compare_with_golden(golden_reports + "18_ranks_f32.txt", ranks_text(report));
    compare_with_golden(golden_reports + "18_ranks_f32.json", ranks_json(report));
}

TEST_CASE("distributed: a solve tells its restarts, if there were any") {
    RanksReport report = report_of_ranks(2, Precision::f64);
    report.solve =
        RanksSolve{.end = SolveEnd::converged, .reason = "", .iterations = 9, .history = {}, .x = {}, .right_hand_side = ""};
    const auto line_after = [&report](int restarts) {
        report.solve->restarts = restarts;
        return lines_with(ranks_text(report), "converged: ");
    };
    const std::string rest = ", residual 0, true residual 0\n";
    CHECK(line_after(0) == "  converged: 9 iterations" + rest);
    CHECK(line_after(1) == "  converged: 9 iterations, 1 restart" + rest);
    CHECK(line_after(2) == "  converged: 9 iterations, 2 restarts" + rest);
}

TEST_CASE("distributed: up to 16 ranks have a line each, of more the last line counts the rest") {
    const std::string sixteen = ranks_text(report_of_ranks(16, Precision::f64));
    CHECK(lines_with(sixteen, "more").empty());
    CHECK_FALSE(lines_with(sixteen, "machine15").empty());
    const std::string seventeen = ranks_text(report_of_ranks(17, Precision::f64));
    CHECK(lines_with(seventeen, "...").find("2 more") != std::string::npos);
    CHECK_FALSE(lines_with(seventeen, "machine14").empty());
    CHECK(lines_with(seventeen, "machine15").empty());
}

TEST_CASE("distributed: phases have the fastest, mean and slowest rank, and slowest over mean") {
    // 1, 2 and 1 s: the mean is 4/3 s.
    const std::string text = ranks_text(report_of_ranks(3, Precision::f64));
    const std::string reading = lines_with(text, "reading ");
    CHECK_MESSAGE(reading.find("1.50") != std::string::npos, reading);
    compare_with_golden(golden_reports + "3_ranks_f64.txt", text);
    // The first of equally slow ranks is named.
    RanksReport tied = report_of_ranks(4, Precision::f64);
    tied.ranks = {facts_of_rank(1), facts_of_rank(2), facts_of_rank(2), facts_of_rank(1)};
    CHECK(lines_with(ranks_text(tied), "reading ") == "  reading         1.00 s   1.50 s   2.00 s        1        1.33\n");
}

TEST_CASE("distributed: the exchange in bytes of the precision, and its hidden share") {
    // 40 + 80 + 40 elements. On each rank the product takes 2 of the 5 ms of its exchange longer than its two kernels.
    const auto exchange_line = [](const RanksReport& report) { return lines_with(ranks_text(report), "xchange ("); };
    const std::string words = " per product; on average 60 % of its time is hidden, at least 60 %\n";
    CHECK(exchange_line(report_of_ranks(3, Precision::f32)) == "Exchange (a wire): 640 B" + words);
    CHECK(exchange_line(report_of_ranks(3, Precision::f64)) == "Exchange (a wire): 1.25 KiB" + words);
    RanksReport uneven = report_of_ranks(3, Precision::f32);
    uneven.ranks[1].product_seconds = 0.026;  // 0.016 in its kernels, 0.010 in its exchange
    CHECK(exchange_line(uneven) ==
          "Exchange (a wire): 640 B per product; on average 40 % of its time is hidden, at least 0 %\n");
    for (RankFacts& facts : uneven.ranks) facts.halo = 0;
    CHECK(lines_with(ranks_text(uneven), "o exchange") == "No exchange: no rank needs elements of another one\n");
}

TEST_CASE("distributed: the hidden share of a rank") {
    RankFacts facts = facts_of_rank(1);
    CHECK(facts.hidden() == doctest::Approx(0.6));
    facts.product_seconds = 0.008;
    CHECK(facts.hidden() == 1);
    facts.product_seconds = 0.007;
    CHECK(facts.hidden() == 1);
    facts.product_seconds = 0.1;
    CHECK(facts.hidden() == 0);
    facts.exchange_seconds = 0;
    CHECK(facts.hidden() == 1);
}

TEST_CASE("distributed: a solve that ends early gives its reason, and per iteration nothing is divided by 0") {
    RanksReport report = report_of_ranks(2, Precision::f64);
    report.solve.emplace();
    report.solve->end = SolveEnd::indefinite;
    report.solve->reason = "p^T A p is -1";
    CHECK(report.solve->iteration_seconds() == 0);
    CHECK(lines_with(ranks_text(report), "p^T A p is -1") ==
          "  indefinite: p^T A p is -1: 0 iterations, residual 0, true residual 0\n");
    const auto json = nlohmann::json::parse(ranks_json(report));
    CHECK(json["solve"]["preconditioner"] == "none");
    CHECK(json["solve"]["iteration_seconds"] == 0);
}

TEST_CASE("distributed: the slowest rank gives the time of the product") {
    RanksReport report = report_of_ranks(4, Precision::f64);
    CHECK(report.product_seconds() == doctest::Approx(0.03));
    CHECK(nlohmann::json::parse(ranks_json(report))["product_seconds"] == report.product_seconds());
    CHECK(lines_with(ranks_text(report), "GFLOP/s").find("30.0 ms, 0.0600 GFLOP/s; the median of 5 samples of 77 products") !=
          std::string::npos);
    report.matrix.source = "\xFF.mtx";  // a file name may contain any bytes
    CHECK(nlohmann::json::parse(ranks_json(report))["matrix"]["source"] == "\uFFFD.mtx");
    report.ranks.resize(1);
    report.names.resize(1);
    CHECK(ranks_text(report).find("over 1 rank in equal pieces") != std::string::npos);
}

}  // namespace workbench
