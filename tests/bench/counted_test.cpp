// Every table, chart and page of results with two devices, two precisions and several recipes on several matrices, in which
// every figure is another number.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "pipeline/report/report.hpp"
#include "studies/bench/bench_page.hpp"
#include "studies/bench/cover.hpp"
#include "studies/bench/line.hpp"
#include "studies/bench/plots.hpp"
#include "studies/bench/ranking.hpp"
#include "studies/bench/rule.hpp"
#include "support/chart_text.hpp"
#include "support/golden.hpp"
#include "support/layouts/counted_report.hpp"
#include "support/page_sections.hpp"

namespace workbench {
namespace {

void compare_counted(const std::string& name, const std::string& text) {
    compare_with_golden(std::string(WORKBENCH_SOURCE_DIR) + "/tests/golden/counted/" + name, text);
}

/// Three recipes, two of which are points of a sweep; the first is the fastest on matrices of many rows. Record i of all has
/// other figures than record j.
Record counted_record(Counted& next, int recipe, int matrix, const std::string& device, const std::string& precision) {
    Record record;
    record.recipe = record.name = std::vector<std::string>{"even", "odd", "plain"}[recipe];
    record.matrix = fmt::format("folder/m{}.mtx", matrix);
    record.device = device;
    record.precision = precision;
    record.status = "measured";
    record.layout = "layout of " + record.recipe;
    record.kernel = fmt::format("kernel{}", next.count());
    record.backend = device == "gpu" ? "cuda" : "kokkos";
    record.seconds = next.milliseconds();
    record.gflops = next.number();
    record.gbytes_per_second = next.number();
    record.bytes_per_nonzero = next.number();
    const double ratio = (recipe == matrix % 2 ? 2 : 1) + next.count() * 7919 % 101 / 200.0;
    record.speedup = ratio;
    record.interval = Interval{ratio - 0.11, ratio + 0.13};
    record.verdict = ratio - 0.11 > 1 ? "faster" : "within noise";
    if (ratio - 0.11 > 1) record.break_even = next.number();
    if (recipe < 2) record.preparation = {{"sort", next.milliseconds()}, {"cut", next.milliseconds()}};
    record.preparation.emplace_back("layout", next.milliseconds());
    record.preparation.emplace_back("copy", next.milliseconds());
    if (device == "gpu") record.preparation.emplace_back("vectors", next.milliseconds());
    record.setup_seconds = next.milliseconds();
    record.first_seconds = next.milliseconds();
    record.new_values_seconds = next.milliseconds();
    if (matrix % 3 == 0) record.warnings = {fmt::format("warning {}", next.count())};
    record.copy_bandwidth = (device == "gpu" ? 101 : 11) * 1e9;
    record.read_bandwidth = (device == "gpu" ? 207 : 23) * 1e9;
    record.metrics = {{"rows", 1000 + 100 * (matrix % 2)}, {"columns", 3000 + matrix}, {"nonzeros", 40000 + matrix}};
    record.parameters = {{"layout.height", recipe == 0 ? 8 : 16}};
    record.shape = recipe < 2 ? "sort cut ell" : "ell";
    return record;
}

std::vector<Record> counted_records() {
    Counted next(101);
    std::vector<Record> records;
    for (const char* device : {"host", "gpu"}) {
        for (const char* precision : {"f32", "f64"}) {
            for (int matrix = 0; matrix < 9; ++matrix) {
                for (int recipe = 0; recipe < 3; ++recipe) {
                    records.push_back(counted_record(next, recipe, matrix, device, precision));
                }
            }
        }
    }
    // Each device and precision lacks another measurement.
    int failures = 0;
    for (const std::size_t at : {3, 35, 67, 99}) {
        Record failure;
        failure.recipe = failure.name = records[at].recipe;
        failure.matrix = records[at].matrix;
        failure.device = records[at].device;
        failure.precision = records[at].precision;
        failure.status = std::vector<std::string>{"unsuitable", "failed", "wrong", "unsuitable"}[failures++];
        failure.reason = fmt::format("reason {}", at);
        records[at] = failure;
    }
    return records;
}

/// A line without the metrics of its stages, indented.
std::string shown_line(const BenchLine& line) {
    auto json = nlohmann::ordered_json::parse(line.text);
    for (auto& stage : json["stages"]) stage.erase("metrics");
    return fmt::format("{}; {}; {}\n{}\n", line.status, line.summary, fmt::join(line.warnings, ", "), json.dump(1));
}

const BenchRecipeFacts recipe_facts{"R", "a source", "r.toml", "[layout]\nuse = \"ell\"\n", false, "copy.toml"};

}  // namespace

TEST_SUITE("counted figures of a bench") {
    TEST_CASE("in tables") {
        const std::vector<Record> records = counted_records();
        compare_counted("ranking.txt", ranking_text(records) + '\n' + ranking_text(records, "odd"));
        compare_counted("ranking.tex", ranking_tex(records, "plain"));
        compare_counted("prices.txt", prices_text(records));
        compare_counted("records.csv", records_csv(records));
        for (const auto& [name, format] :
             {std::pair{"txt", TableFormat::text}, {"csv", TableFormat::csv}, {"tex", TableFormat::tex}}) {
            compare_counted(fmt::format("cover.{}", name), cover_tables(records, format));
            compare_counted(fmt::format("rule.{}", name), rule_tables(records, 2, format));
        }
    }

    TEST_CASE("in charts") {
        const Plots plots = plots_of(counted_records(), {"rows", "nonzeros"});
        std::string text;
        const auto add_all = [&text](const auto& list) {
            for (const auto& [name, chart] : list) text += name + ": " + text_of_chart(chart);
        };
        add_all(plots.bars);
        add_all(plots.curves);
        add_all(plots.maps);
        compare_counted("charts.txt", text);
    }

    TEST_CASE("in a page") {
        const auto page =
            nlohmann::json::parse(section_of_page(bench_page(counted_records(), "a title", "a command"), "document"));
        compare_counted("bench_rankings.json", page["rankings"].dump(1) + '\n');
        CHECK(page["title"] == "a title");
        CHECK(page["command"] == "a command");
        CHECK(page["records"].size() == 108);
        std::string text;
        for (const std::size_t at : {0, 30, 67, 107}) text += page["records"][at].dump(1) + '\n';
        compare_counted("bench_records.json", text);
    }

    TEST_CASE("in the line of each precision, and in the records of a report") {
        RunReport report = counted_report();
        std::string records;
        for (const bool whole : {true, false}) {
            // A wrong kernel of one precision, and then none.
            if (!whole) std::erase_if(report.kernels, [](const KernelOutcome& kernel) { return !kernel.verified(); });
            for (const Precision precision : {Precision::f64, Precision::f32}) {
                const BenchKey key{"1234", "m.mtx", 77, precision, "a program", "a device", "options"};
                const BenchLine line = line_of_report(key, recipe_facts, json_of(report), !whole, {});
                compare_counted(fmt::format("line_{}_{}.txt", whole ? "wrong" : "right", name_of(precision)), shown_line(line));
                records += records_csv(records_of_line(nlohmann::ordered_json::parse(line.text)));
            }
            records += records_csv(records_of({report}));
        }
        compare_counted("records_of_report.csv", records);
        auto of_earlier_version = json_of(report);
        of_earlier_version.erase("vectors");
        const BenchKey key{"1234", "m.mtx", 77, Precision::f64, "a program", "a device", "options"};
        const BenchLine one_vector = line_of_report(key, recipe_facts, of_earlier_version, true, {});
        CHECK(nlohmann::ordered_json::parse(one_vector.text)["vectors"] == 1);
        const BenchLine failure = line_of_failure({"12", "m", 7, Precision::f32, "p", "d", "o"}, recipe_facts, "it broke");
        compare_counted("line_of_failure.txt", failure.status + "; " + failure.summary + '\n' + failure.text + '\n');
    }
}

}  // namespace workbench
