// Warnings and noise in the tables and plots of many results.
#include <doctest/doctest.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "studies/bench/cover.hpp"
#include "studies/bench/plots.hpp"
#include "studies/bench/ranking.hpp"
#include "studies/bench/rule.hpp"

namespace workbench {
namespace {

/// On the host in f64; the baseline takes 1 s.
Record noisy_record(const std::string& recipe, const std::string& matrix, double speedup, Interval interval) {
    Record record;
    record.recipe = recipe;
    record.matrix = matrix;
    record.device = "host";
    record.precision = "f64";
    record.status = "measured";
    record.seconds = 1 / speedup;
    record.speedup = speedup;
    record.interval = interval;
    record.verdict = interval.low > 1 ? "faster" : "within noise";
    return record;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// With one blank in the place of each break of a line.
std::string in_one_line(const std::string& text) {
    std::string line;
    for (const char letter : text) {
        const bool blank = letter == ' ' || letter == '\n';
        if (!blank || (!line.empty() && line.back() != ' ')) line += blank ? ' ' : letter;
    }
    return line;
}

/// Eight matrices with these recipes; the first is 1.5 and the others 1.4 x as fast, on all of them.
std::vector<Record> alike(const std::vector<std::string>& recipes, double width) {
    std::vector<Record> records;
    for (int matrix = 0; matrix < 8; ++matrix) {
        for (const std::string& recipe : recipes) {
            const double speedup = recipe == recipes.front() ? 1.5 : 1.4;
            records.push_back(noisy_record(recipe, fmt::format("m{}", matrix), speedup, {speedup - width, speedup + width}));
            records.back().metrics = {{"rows", 10.0 * matrix}};
        }
    }
    return records;
}

}  // namespace

TEST_SUITE("noise") {
    TEST_CASE("rankings count the times that a warning concerns") {
        std::vector<Record> records{noisy_record("A", "m", 2, {1.9, 2.1}), noisy_record("A", "n", 2, {1.9, 2.1}),
                                    noisy_record("B", "m", 1.5, {1.4, 1.6})};
        CHECK_FALSE(contains(ranking_text(records), "warned"));
        records[1].warnings = {"interrupted", "a spread"};
        const std::string text = ranking_text(records);
        CHECK_MESSAGE(contains(text, "matrices  warned\n"), text);
        CHECK_MESSAGE(contains(text, "         2    50 %\n"), text);
        CHECK_MESSAGE(contains(text, "         1     0 %\n"), text);
        CHECK(contains(text, "\n  warned: a warning says"));
        const std::string tex = ranking_tex(records);
        CHECK(contains(tex, "& matrices & warned"));
        CHECK(contains(tex, "& 2 & 50 \\% \\\\\n"));
        CHECK(contains(tex, "; warned: a warning says that the time of the recipe, or of the baseline, says little}"));
        CHECK(contains(records_csv(records), ",interrupted; a spread\n"));
    }

    TEST_CASE("a table with warnings and names of 20 letters has 80 columns") {
        std::vector<Record> records{noisy_record(std::string(20, 'A'), "m", 123.4, {1.9, 200})};
        records.back().warnings = {"interrupted"};
        const std::string text = ranking_text(records);
        for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
            CHECK_MESSAGE(end - begin <= 80, text.substr(begin, end - begin));
        }
    }

    TEST_CASE("every plot says how many times have warnings") {
        std::vector<Record> records = alike({"A", "B"}, 0.01);
        records[0].warnings = {"interrupted"};
        const Plots plots = plots_of(records, {"rows"});
        for (const auto& plot : plots.bars) CHECK(contains(plot.chart.subtitle, "1 of 16 times with warnings"));
        for (const auto& plot : plots.curves) CHECK(contains(plot.chart.subtitle, "1 of 16 times with warnings"));
        for (const auto& plot : plots.maps) CHECK(contains(plot.chart.subtitle, "1 of 16 times with warnings"));
    }

    TEST_CASE("plots with a logarithmic axis say how many points at 0 they leave out") {
        std::vector<Record> records = alike({"A", "B"}, 0.01);
        const auto foot = [&](const std::string& name) {
            for (const auto& plot : plots_of(records, {"rows"}).curves) {
                if (plot.name.starts_with(name)) return plot.chart.foot;
            }
            return std::string("no plot");
        };
        CHECK(foot("speedup_rows") == "");  // 0 to 70 on a linear axis
        for (Record& record : records) record.metrics["rows"] *= record.metrics["rows"];
        for (const int of_m1 : {2, 3}) records[of_m1].metrics["rows"] = 1;
        CHECK(foot("speedup_rows") == "2 points at 0 left out: the axis is logarithmic");
        records[4].interval = {{0.9, 2}};
        CHECK(foot("speedup_rows").ends_with("; 2 points at 0 left out: the axis is logarithmic"));
        for (Record& record : records) record.bytes_per_nonzero = record.gflops = record.copy_bandwidth = 2;
        CHECK(foot("roofline") == "");
        records[3].bytes_per_nonzero = 0;
        CHECK(foot("roofline") == "1 point at 0 left out: the axis is logarithmic");
    }

    TEST_CASE("the four prices of a recipe are medians over the matrices") {
        std::vector<Record> records{noisy_record("A", "m", 2, {1.9, 2.1}), noisy_record("A", "n", 2, {1.9, 2.1}),
                                    noisy_record("A", "o", 2, {1.9, 2.1}), noisy_record("old", "m", 2, {1.9, 2.1})};
        for (int i = 0; i < 3; ++i) {
            records[i].setup_seconds = i + 1;
            records[i].first_seconds = 0.1 * (i + 1);
            records[i].new_values_seconds = 10 * (i + 1);
        }
        const std::string text = prices_text(records);
        CHECK_MESSAGE(contains(text, "CPU, f64: 3 matrices, prices: medians over the matrices\n"), text);
        CHECK_MESSAGE(contains(text, "  A       2.00 s         200 ms   500 ms      20.0 s         3\n"), text);
        CHECK_FALSE(contains(text, "  old"));  // a line of an earlier program has no prices
        CHECK(contains(ranking_tex(records), "A & 2.00 s & 200 ms & 500 ms & 20.0 s & 3"));
    }

    TEST_CASE("a record of a machine that did other work has warnings of the kernel and of the baseline, and no interval") {
        const std::string kernel = R"({"layout": "ell", "share": null, "kernel": "rows", "backend": "kokkos",
            "precision": "f64", "baseline": false, "status": "measured", "median_seconds": 1, "speedup": 739,
            "speedup_interval": [3.24, 1275], "verdict": "busy machine", "setup_seconds": 2, "first_seconds": 3,
            "new_values_seconds": 4, "warnings": ["about rows", "about both"]})";
        const std::string baseline = R"({"layout": "csr", "share": null, "kernel": "usual", "backend": "kokkos",
            "precision": "f64", "baseline": true, "status": "measured", "median_seconds": 739, "speedup": 1,
            "warnings": ["about both", "about usual"]})";
        const std::string line = R"({"recipe": {"name": "R"}, "matrix": {"source": "m"}, "stages": [{"id": "input"}],
            "layouts": [{"name": "ell", "share": null, "precision": "f64", "seconds": 1}], "errors": [], "kernels": [)" +
                                 baseline + ", " + kernel + "]}";
        const std::vector<Record> records = records_of_line(nlohmann::ordered_json::parse(line));
        REQUIRE(records.size() == 1);
        CHECK_FALSE(records[0].interval);
        CHECK(records[0].warnings == std::vector<std::string>{"about both", "about usual", "about rows"});
        CHECK(records[0].setup_seconds == 2);
        CHECK(records[0].first_seconds == 3);
        CHECK(records[0].new_values_seconds == 4);
    }

    TEST_CASE("a recipe that is tied with the fastest has no regret") {
        const std::vector<TimeTable> tables =
            time_tables({noisy_record("A", "m", 2, {1.5, 2.5}), noisy_record("B", "m", 1.6, {1.2, 1.5}),
                         noisy_record("C", "m", 1, {0.9, 1.1})});
        REQUIRE(tables.size() == 1);
        CHECK(tables[0].log_regrets[0][0] == 0);
        CHECK(tables[0].log_regrets[0][1] == 0);
        CHECK(std::exp(tables[0].log_regrets[0][2]) == doctest::Approx(2));
    }

    TEST_CASE("a rule does not rank recipes that are tied on all matrices") {
        const std::string tied = in_one_line(rule_tables(alike({"A", "B", "C"}, 0.2), 3, TableFormat::text));
        CHECK_MESSAGE(contains(tied, "On all matrices A is tied with B, C: the times do not rank them."), tied);
        CHECK(contains(rule_tables(alike({"A", "B", "C"}, 0.2), 3, TableFormat::tex), "; On all matrices A"));
        CHECK_FALSE(contains(rule_tables(alike({"A", "B", "C"}, 0.01), 3, TableFormat::text), "tied with B"));
    }

    TEST_CASE("a rule that is no better than its best recipe says so") {
        // A and B are twice as fast by turns, in an order that the number of rows does not explain.
        std::vector<Record> records;
        const std::vector<int> fastest{0, 0, 1, 1, 0, 0, 1, 1, 0, 0};
        for (int matrix = 0; matrix < 10; ++matrix) {
            for (int recipe = 0; recipe < 2; ++recipe) {
                const double speedup = fastest[matrix] == recipe ? 2 : 1;
                records.push_back(
                    noisy_record(recipe == 0 ? "A" : "B", fmt::format("m{}", matrix), speedup, {speedup - 0.1, speedup + 0.1}));
                records.back().metrics = {{"rows", 7 * matrix % 10}};
            }
        }
        const std::string comment = "no better than always A on matrices that it was not grown from";
        const std::vector<TimeTable> tables = time_tables(records);
        const std::optional<RuleStudy> study = study_rule(tables[0], 2);
        REQUIRE(study);
        REQUIRE_FALSE(study->rule.front().metric.empty());  // it fits what it was grown from
        REQUIRE_FALSE(study->by_rule.cross_validated.is_better_than(study->single.cross_validated));
        CHECK(contains(in_one_line(rule_tables(records, 2, TableFormat::text)), comment));
        CHECK(contains(rule_tables(records, 2, TableFormat::tex), comment));
    }
}

}  // namespace workbench
