// Records, rankings and prices of results with two axes: recipes and matrices in two precisions, on two devices, as a whole and
// by share.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/contract/errors.hpp"
#include "studies/bench/bench_page.hpp"
#include "studies/bench/plots.hpp"
#include "studies/bench/ranking.hpp"
#include "support/message_of.hpp"
#include "support/page_sections.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

struct Place {
    std::string precision = "f64";
    std::string device = "host";
};

Record result_of(const std::string& recipe, const std::string& matrix, double speedup, const Place& place = {}) {
    Record record;
    record.recipe = recipe;
    record.matrix = matrix;
    record.device = place.device;
    record.precision = place.precision;
    record.status = "measured";
    record.speedup = speedup;
    record.interval = Interval{speedup - 0.1, speedup + 0.1};
    return record;
}

Record failure_of(const std::string& recipe, const std::string& matrix, const std::string& precision) {
    Record record;
    record.recipe = recipe;
    record.matrix = matrix;
    record.precision = precision;
    record.status = "failed";
    return record;
}

/// The records of one file with this text.
std::vector<Record> records_in(const std::string& text) {
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "file", std::ios::binary) << text;
    std::vector<Record> records;
    add_records({folder.path() / "file"}, records);
    return records;
}

std::string kernel_json(const std::string& name, const std::string& backend, const std::string& precision, double seconds,
                        const std::string& share = "null") {
    return fmt::format(
        R"({{"layout":"ell","kernel":"{}","backend":"{}","precision":"{}","share":{},"baseline":false,"status":"measured",)"
        R"("median_seconds":{},"speedup":{},"speedup_interval":[1.5,2.5],"verdict":"faster"}})",
        name, backend, precision, share, seconds, 8 / seconds);
}

std::string report_json(const std::string& kernels, const std::string& more = "") {
    return R"({"recipe":{"name":"R"},"matrix":{"source":"m","rows":7},"layouts":[{"name":"ell"}],)" + more + R"("kernels":[)" +
           kernels + "]}";
}

const Ranked& ranked_in(const Ranking& ranking, const std::string& recipe) {
    for (const Ranked& one : ranking.recipes) {
        if (one.recipe == recipe) return one;
    }
    FAIL("no recipe ", recipe);
    return ranking.recipes.front();
}

}  // namespace

TEST_SUITE("records") {
    TEST_CASE("each precision and device of a report has a record of its fastest kernel") {
        const std::string kernels = kernel_json("slow", "kokkos", "f64", 4) + "," + kernel_json("quick", "kokkos", "f64", 2) +
                                    "," + kernel_json("single", "kokkos", "f32", 1) + "," +
                                    kernel_json("wide", "cuda", "f64", 0.5) + "," + kernel_json("thin", "cuda", "f32", 0.25);
        const std::string devices = R"("devices":[{"kind":"host","copy_bytes_per_second":5,"read_bytes_per_second":6},)"
                                    R"({"kind":"gpu","copy_bytes_per_second":50,"read_bytes_per_second":60}],)";
        std::vector<std::string> found;
        for (const Record& one : records_in(report_json(kernels, devices))) {
            CHECK(one.copy_bandwidth == (one.device == "gpu" ? 50 : 5));
            CHECK(one.read_bandwidth == (one.device == "gpu" ? 60 : 6));
            found.push_back(fmt::format("{} {} {} {}", one.precision, one.device, one.kernel, one.speedup.value_or(0)));
        }
        CHECK(found == std::vector<std::string>{"f32 gpu thin 32", "f32 host single 8", "f64 gpu wide 16", "f64 host quick 4"});
    }

    TEST_CASE("the preparation is that of the record's own precision") {
        const std::string text =
            R"({"recipe":{"name":"R"},"matrix":{"source":"m"},"stages":[{"id":"input","seconds":9},{"id":"sort","seconds":1},)"
            R"({"id":"cut","precision":"f64","seconds":2},{"id":"cut","precision":"f32","seconds":3}],)"
            R"("layouts":[{"name":"ell","precision":"f64","seconds":4},{"name":"ell","precision":"f32","seconds":5}],"kernels":[)" +
            kernel_json("wide", "kokkos", "f64", 2) + "," + kernel_json("narrow", "kokkos", "f32", 1) + "]}";
        using Parts = std::vector<std::pair<std::string, double>>;
        const std::vector<Record> records = records_in(text);
        REQUIRE(records.size() == 2);
        CHECK(records[0].precision == "f32");
        CHECK(records[0].preparation == Parts{{"sort", 1}, {"cut", 3}, {"layout", 5}, {"copy", 0}});
        CHECK(records[1].preparation == Parts{{"sort", 1}, {"cut", 2}, {"layout", 4}, {"copy", 0}});
    }

    TEST_CASE("a record has the names and the parameters of its stages and its layout, each once") {
        const std::string stages = R"("stages":[{"id":"input","name":"input","parameters":{"height":9}},)"
                                   R"({"id":"sort","name":"row_sort","precision":"f64","parameters":{"window":4}},)"
                                   R"({"id":"sort","name":"row_sort","precision":"f32","parameters":{"window":5}},)"
                                   R"({"id":"again","name":"row_sort","parameters":{"window":6}}],)";
        const std::vector<Record> records = records_in(report_json(kernel_json("rows", "kokkos", "f64", 2), stages));
        REQUIRE(records.size() == 1);
        CHECK(records[0].shape == "row_sort row_sort ell");
        CHECK(records[0].parameters == std::map<std::string, double>{{"stage.sort.window", 4}, {"stage.again.window", 6}});
    }

    TEST_CASE("without a measured kernel, a record says why") {
        const auto why = [](const std::string& kernels, const std::string& more) {
            std::vector<std::string> found;
            for (const Record& one : records_in(report_json(kernels, more))) found.push_back(one.status + ": " + one.reason);
            return fmt::format("{}", fmt::join(found, "; "));
        };
        CHECK(why("", R"("errors":["no memory"],)") == "failed: no memory");
        CHECK(why("", R"("errors":["not square"],"unsuitable":"not square",)") == "unsuitable: not square");
        CHECK(why("", "") == "unsuitable: ");
        CHECK(why("", R"("status":"wrong","reason":"not finished",)") == "wrong: not finished");
        const auto kernel = [](const std::string& status, bool baseline) {
            return fmt::format(R"({{"layout":"ell","kernel":"rows","backend":"kokkos","precision":"f64","share":null,)"
                               R"("baseline":{},"status":"{}","reason":"row 3"}})",
                               baseline, status);
        };
        const std::string staged = R"("stages":[{"id":"input","name":"input"},{"id":"sort","name":"row_sort"}],)";
        CHECK(why(kernel("unsuitable", false), staged) == "unsuitable: row 3");
        CHECK(why(kernel("unsuitable", true), staged) == "unsuitable: ");  // the baseline is not the recipe
        CHECK(why(kernel("wrong", false), staged) == "wrong: row 3; unsuitable: row 3");
    }

    TEST_CASE("the layouts of the shares of a hybrid count once in its preparation") {
        const std::vector<Record> records =
            records_in(R"({"recipe":{"name":"R"},"matrix":{"source":"m"},"layouts":[)"
                       R"({"name":"csr + sell","share":null,"precision":"f64","seconds":7},)"
                       R"({"name":"csr","share":"long","precision":"f64","seconds":3},)"
                       R"({"name":"sell","share":"short","precision":"f64","seconds":4}],"kernels":[)" +
                       kernel_json("rows + slices", "kokkos", "f64", 4) + "]}");
        REQUIRE(records.size() == 1);
        CHECK(records[0].preparation == std::vector<std::pair<std::string, double>>{{"layout", 7}, {"copy", 0}});
    }

    TEST_CASE("a kernel without a break-even has none, and no price is listed for it") {
        const std::string kernel = kernel_json("k", "kokkos", "f64", 1);
        for (const std::string& one : {kernel, kernel.substr(0, kernel.size() - 1) + R"(,"break_even":null})"}) {
            const std::vector<Record> records = records_in(report_json(one));
            REQUIRE(records.size() == 1);
            CHECK_FALSE(records[0].break_even);
            CHECK(prices_text(records).empty());
        }
        CHECK(records_in(report_json(kernel.substr(0, kernel.size() - 1) + R"(,"break_even":0.5})"))[0].break_even == 0.5);
    }

    TEST_CASE("of repeated measurements the last counts, separately for each precision and device") {
        const std::string first = report_json(kernel_json("a", "kokkos", "f64", 4) + "," + kernel_json("b", "cuda", "f64", 4) +
                                              "," + kernel_json("c", "kokkos", "f32", 4));
        const std::string second = report_json(kernel_json("again", "kokkos", "f64", 2));
        std::vector<std::string> found;
        for (const Record& one : records_in(first + '\n' + second + '\n')) found.push_back(one.kernel);
        CHECK(found == std::vector<std::string>{"c", "b", "again"});
    }

    TEST_CASE("the results of two GPUs have a row each, and those of one GPU are one experiment") {
        const auto line = [](const std::string& gpu, double seconds) {
            return report_json(kernel_json("k", "cuda", "f64", seconds),
                               R"("devices":[{"kind":"host","name":"a CPU"},{"kind":"gpu","name":")" + gpu + R"("}],)") +
                   '\n';
        };
        std::vector<std::string> found;
        for (const Record& one : records_in(line("old", 4) + line("new", 2) + line("new", 1))) {
            found.push_back(fmt::format("{} {}", one.recipe, one.seconds));
        }
        CHECK(found == std::vector<std::string>{"R: old 4", "R: new 1"});
    }

    TEST_CASE("several files: repeated measurements count once, files without a complete line give a note") {
        const TemporaryFolder folder;
        const auto line = [](const std::string& matrix, double seconds) {
            const std::string number = std::to_string(seconds);
            return R"({"recipe":{"name":"R"},"matrix":{"source":")" + matrix +
                   R"("},"layouts":[{"name":"ell"}],"kernels":[{"layout":"ell","kernel":"x","backend":"kokkos","precision":"f64",)"
                   R"("status":"measured","median_seconds":)" +
                   number + R"(,"speedup":2}]})" + "\n";
        };
        const auto file = [&](const char* name, const std::string& text) {
            std::ofstream(folder.path() / name, std::ios::binary) << text;
            return folder.path() / name;
        };
        const std::filesystem::path first = file("1", line("m", 1) + line("n", 2));
        const std::filesystem::path second = file("2", line("n", 3) + line("o", 4) + "{\"key\":{\"re");
        const std::filesystem::path empty = file("3", "");
        const std::filesystem::path cut = file("4", "{\"key\"");
        std::vector<Record> records;
        const std::vector<std::string> notes = add_records({first, second, empty, cut}, records);
        std::vector<std::string> found;
        for (const Record& one : records) found.push_back(one.matrix + " " + std::to_string(static_cast<int>(one.seconds)));
        CHECK(found == std::vector<std::string>{"m 1", "n 3", "o 4"});
        CHECK(notes == std::vector<std::string>{
                           second.string() + ":3: this line is incomplete and left out; repeat the bench",
                           empty.string() + ": this file is empty; expected the lines of a bench or the JSON of a run",
                           cut.string() + ":1: this line is incomplete and left out; repeat the bench"});
        records.clear();
        (void)add_records({second, first}, records);
        CHECK(records.back().matrix == "n");
        CHECK(records.back().seconds == 2);
        records.clear();
        CHECK(message_of<RecipeError>([&] { (void)add_records({empty, cut}, records); }) == notes[1]);
    }

    TEST_CASE("the kernel of one share does not stand for the hybrid") {
        const std::string kernels =
            kernel_json("rows + slices", "kokkos", "f64", 4) + "," + kernel_json("rows", "kokkos", "f64", 1, "\"long\"");
        const std::vector<Record> records = records_in(report_json(kernels));
        REQUIRE(records.size() == 1);
        CHECK(records[0].kernel == "rows + slices");
        CHECK(records[0].seconds == 4);
        CHECK(records[0].speedup == 2);
        CHECK(ranking_text(records).find("CPU, f64: 1 matrix") == 0);
    }

    TEST_CASE("a kernel beside the recipe that failed on one device does not hide that of the other") {
        const std::vector<Record> records = records_in(
            R"({"recipe":{"name":"R","resolved":"[kernel]\ncpu_source = \"/a/mine.cpp\"\ncuda_source = \"/a/mine.cu\"\n"},)"
            R"("matrix":{"source":"m"},"kernels":[)" +
            kernel_json("mine", "cpu", "f64", 2) +
            R"(,{"layout":"ell","kernel":"mine","backend":"cuda","precision":"f64","status":"unsuitable","reason":"too wide"}]})");
        REQUIRE(records.size() == 2);
        CHECK(records[0].status == "unsuitable");
        CHECK(records[0].reason == "too wide");
        CHECK(records[1].status == "measured");
        CHECK(records[1].device == "host");
    }

    TEST_CASE("a kernel beside the recipe that ran in one precision has failed in the other alone") {
        const std::vector<Record> records =
            records_in(R"({"recipe":{"name":"R","resolved":"[kernel]\ncpu_source = \"mine.cpp\"\n"},"matrix":{"source":"m"},)"
                       R"("errors":["mine.cpp:3: no such type"],"kernels":[)" +
                       kernel_json("mine", "cpu", "f64", 2) + "," + kernel_json("rows", "kokkos", "f32", 1) + "]}");
        std::vector<std::string> found;
        for (const Record& one : records) found.push_back(fmt::format("{} {} {}", one.precision, one.status, one.kernel));
        CHECK(found == std::vector<std::string>{"f32 failed ", "f64 measured mine"});
    }

    TEST_CASE("metrics are those of the input, whatever the stages do") {
        const std::string stages =
            R"("stages":[{"id":"input","metrics":{"bandwidth":90,"row_length":{"mean":3}}},)"
            R"({"id":"sort","name":"row_sort","parameters":{"window":16},"metrics":{"bandwidth":10,"row_length":{"mean":4}}},)"
            R"({"id":"sort","name":"row_sort","parameters":{"window":16},"precision":"f32","metrics":{"bandwidth":20}}],)";
        const std::vector<Record> records = records_in(report_json(kernel_json("k", "kokkos", "f64", 1), stages));
        REQUIRE(records.size() == 1);
        CHECK(records[0].metrics == std::map<std::string, double>{{"bandwidth", 90}, {"row_length.mean", 3}, {"rows", 7}});
        CHECK(records[0].parameters == std::map<std::string, double>{{"stage.sort.window", 16}});
        CHECK(records[0].shape == "row_sort ell");
    }
}

TEST_SUITE("rankings of two axes") {
    TEST_CASE("each device and precision has its own ranking, the GPU and f64 first") {
        const std::vector<Ranking> rankings =
            rank({result_of("a", "one", 2), result_of("a", "one", 3, {"f32", "host"}), result_of("a", "one", 4, {"f64", "gpu"}),
                  result_of("b", "one", 5, {"f64", "gpu"}), result_of("a", "two", 6, {"f32", "gpu"})});
        std::vector<std::string> found;
        for (const Ranking& one : rankings) {
            found.push_back(fmt::format("{} {}: {} recipes, {:.0f} x", one.device, one.precision, one.recipes.size(),
                                        one.recipes.front().speedup.most));
        }
        CHECK(found == std::vector<std::string>{"gpu f64: 2 recipes, 5 x", "gpu f32: 1 recipes, 6 x",
                                                "host f64: 1 recipes, 2 x", "host f32: 1 recipes, 3 x"});
    }

    TEST_CASE("a failure counts in its own precision, and in both if its precision is unknown") {
        const std::vector<Record> records{result_of("a", "one", 2),         result_of("a", "one", 2, {"f32"}),
                                          failure_of("a", "two", "f32"),    failure_of("a", "three", "f32"),
                                          failure_of("a", "three", ""),     result_of("b", "one", 3),
                                          result_of("b", "one", 3, {"f32"})};
        const std::vector<Ranking> rankings = rank(records);
        REQUIRE(rankings.size() == 2);
        CHECK(rankings[0].precision == "f64");
        CHECK(ranked_in(rankings[0], "a").not_measured == 1);  // three, for the failure of unknown precision
        CHECK(ranked_in(rankings[1], "a").not_measured == 2);
        CHECK(ranked_in(rankings[1], "b").not_measured == 0);
        const std::string only_f32 =
            ranking_text({result_of("a", "one", 2), result_of("a", "one", 2, {"f32"}), failure_of("a", "two", "f32")});
        const std::size_t note = only_f32.find("are left out");
        CHECK(note > only_f32.find("CPU, f32"));
        CHECK(only_f32.find("are left out", note + 1) == std::string::npos);
    }

    TEST_CASE("intervals that touch are a tie") {
        std::vector<Record> records{result_of("a", "one", 3.5), result_of("b", "one", 2.5)};
        records[0].interval = Interval{3, 4};
        records[1].interval = Interval{2, 3};
        CHECK(rank(records)[0].recipes[0].won == 0);
        CHECK(rank(records)[0].recipes[0].tied == 1);
        CHECK(rank(records)[0].recipes[1].tied == 1);
        records[1].interval = Interval{2, 2.99};
        CHECK(rank(records)[0].recipes[0].won == 1);
        CHECK(rank(records)[0].recipes[1].tied == 0);
    }

    TEST_CASE("the geometric mean decides the order, not the arithmetic one") {
        const std::vector<Ranking> rankings = rank({result_of("uneven", "one", 1), result_of("uneven", "two", 9),
                                                    result_of("even", "one", 4), result_of("even", "two", 4)});
        CHECK(rankings[0].recipes[0].recipe == "even");
        CHECK(rankings[0].recipes[1].speedup.mean == 5);
        std::vector<Record> equal;
        for (int i = 0; i < 20; ++i) equal.push_back(result_of(fmt::format("r{:02}", 19 - i), "one", 2));
        const Ranking by_name = rank(equal)[0];
        for (int i = 0; i < 20; ++i) CHECK(by_name.recipes[i].recipe == fmt::format("r{:02}", i));
    }

    TEST_CASE("the page of a bench has the records and the rankings of both precisions") {
        std::vector<Record> records{result_of("a", "one", 2), result_of("a", "two", 8), result_of("a", "one", 3, {"f32"}),
                                    failure_of("a", "three", "f32")};
        records[0].metrics["nonzeros"] = 77;
        records[0].copy_bandwidth = 5;
        records[0].read_bandwidth = 6;
        records[0].break_even = 12;
        records[0].warnings = {"noise", "more of it"};
        const auto page = nlohmann::json::parse(section_of_page(bench_page(records, "a title", "a command"), "document"));
        CHECK(page["kind"] == "bench");
        CHECK(page["title"] == "a title");
        CHECK(page["command"] == "a command");
        REQUIRE(page["records"].size() == 4);
        CHECK(page["records"][0]["nonzeros"] == 77);
        CHECK(page["records"][0]["copy_bandwidth"] == 5);
        CHECK(page["records"][1]["nonzeros"] == nullptr);
        CHECK(page["records"][0]["break_even"] == 12);
        CHECK(page["records"][0]["warnings"] == records[0].warnings);
        CHECK(page["records"][1]["warnings"] == nlohmann::json::array());
        CHECK(page["records"][2]["precision"] == "f32");
        CHECK(page["records"][3]["interval"] == nullptr);
        REQUIRE(page["rankings"].size() == 2);
        const auto f64 = page["rankings"][0];
        CHECK(f64["precision"] == "f64");
        CHECK(f64["device"] == "host");
        CHECK(f64["matrices"] == 2);
        CHECK(f64["recipes"][0] == nlohmann::json{{"recipe", "a"},
                                                  {"geometric_mean", f64["recipes"][0]["geometric_mean"]},
                                                  {"least", 2},
                                                  {"most", 8},
                                                  {"count", 2},
                                                  {"won", 0},
                                                  {"tied", 0},
                                                  {"warned", 1},
                                                  {"not_measured", 0}});
        CHECK(f64["recipes"][0]["geometric_mean"] == doctest::Approx(4));
        CHECK(page["rankings"][1]["precision"] == "f32");
        CHECK(page["rankings"][1]["recipes"][0]["not_measured"] == 1);
    }

    TEST_CASE("bars of more than 24 matrices are drawn on numbered pages") {
        std::vector<Record> records;
        for (int i = 0; i < 25; ++i) records.push_back(result_of("a", fmt::format("{:02}", i), 2));
        const Plots plots = plots_of(records, {});
        REQUIRE(plots.bars.size() == 2);
        CHECK(plots.bars[0].name == "bars_host_f64_1");
        CHECK(plots.bars[0].chart.rows.size() == 24);
        CHECK(plots.bars[1].name == "bars_host_f64_2");
        CHECK(plots.bars[1].chart.rows == std::vector<std::string>{"24"});
        records.pop_back();
        const Plots one_page = plots_of(records, {});
        REQUIRE(one_page.bars.size() == 1);
        CHECK(one_page.bars[0].name == "bars_host_f64");
        CHECK(one_page.bars[0].chart.rows.size() == 24);
    }

    TEST_CASE("the plot of a sweep has a curve of the mean and one of each matrix") {
        std::vector<Record> records;
        for (const double height : {2.0, 8.0}) {
            for (const auto& [matrix, speedup] : {std::pair{"one", height}, std::pair{"two", 4 * height}}) {
                records.push_back(result_of(fmt::format("height {}", height), matrix, speedup));
                records.back().parameters = {{"layout.slice_height", height}};
            }
        }
        const Plots plots = plots_of(records, {});
        CHECK(plots.curves.back().name == "sweep_1_host_f64");
        const std::vector<Series>& series = plots.curves.back().chart.series;
        REQUIRE(series.size() == 3);
        using Points = std::vector<std::pair<double, double>>;
        CHECK(series[0].name == "geometric mean");
        CHECK(series[0].points.at(1).second == doctest::Approx(16));
        CHECK(series[1].name == "one");
        CHECK(series[1].points == Points{{2, 2}, {8, 8}});
        CHECK(series[2].name == "two");
        CHECK(series[2].points == Points{{2, 8}, {8, 32}});
        records[1].interval = Interval{0.5, 9};  // of `two` at 2
        records[1].verdict = "within noise";
        const XyChart noisy = plots_of(records, {}).curves.back().chart;
        using Points_of = std::set<std::size_t>;
        for (std::size_t i = 0; i < 3; ++i) CHECK(noisy.series[i].hollow == (i == 2 ? Points_of{0} : Points_of{}));
    }

    TEST_CASE("a baseline that is no truth value is none") {
        std::string kernel = kernel_json("rows", "cuda", "f64", 2);
        kernel.replace(kernel.find("\"baseline\":false"), 16, "\"baseline\":[2]");
        REQUIRE(records_in(report_json(kernel)).size() == 1);
        CHECK(records_in(report_json(kernel))[0].verdict == "faster");
    }

    TEST_CASE("shares of a comparison refer to the matrices that both recipes have") {
        const std::vector<Record> records{result_of("a", "one", 4), result_of("a", "two", 4), result_of("a", "three", 4),
                                          result_of("rare", "one", 2)};
        const auto table = against_others(records, rank(records)[0], "a");
        REQUIRE(table.size() == 1);
        CHECK(table[0].faster == 1);
        CHECK(table[0].ratio.count == 1);
        CHECK(ranking_text(records, "a").find("  rare     100 %  2.00  2.00     2.00  2.00         1\n") != std::string::npos);
    }

    TEST_CASE("prices: the median of an even number is the mean of the middle two, and each precision has its own") {
        std::vector<Record> records{result_of("a", "one", 2), result_of("a", "two", 2), result_of("a", "three", 2, {"f32"})};
        records[0].break_even = 400;
        records[1].break_even = 900;
        records[2].break_even = 7;
        const std::string text = prices_text(records);
        const std::size_t f32 = text.find("CPU, f32: 1 matrix, products until preprocessing pays off\n");
        REQUIRE(f32 != std::string::npos);
        CHECK(text.substr(0, f32).find("  a          100 %  400     650  900         2\n") != std::string::npos);
        CHECK(text.substr(f32).find("  a          100 %    7       7    7         1\n") != std::string::npos);
        // A recipe that pays off on one of its four matrices.
        records = {result_of("b", "one", 2), result_of("b", "two", 2), result_of("b", "three", 2), result_of("b", "four", 2)};
        records[1].break_even = 20;
        CHECK(prices_text(records).find("  b           25 %   20      20   20         4\n") != std::string::npos);
        // It was measured on four of the five matrices of the ranking.
        records.push_back(result_of("c", "five", 2));
        CHECK(prices_text(records).find("  b           25 %   20      20   20         4\n") != std::string::npos);
    }

    TEST_CASE("a performance profile ends at sixteen times, which a slower recipe does not reach") {
        const Plots plots = plots_of({result_of("a", "f/bus.tar.gz", 34), result_of("b", "f/bus.tar.gz", 2),
                                      result_of("a", "f/b.mtx", 32), result_of("b", "f/b.mtx", 2)},
                                     {});
        const XyChart& chart = plots.curves.at(0).chart;
        REQUIRE(chart.series.size() == 2);
        CHECK(chart.series[0].points.back() == std::pair{16.0, 1.0});
        CHECK(chart.series[1].points.back() == std::pair{16.0, 0.5});  // at 16 times of one matrix, 17 times of the other
        CHECK(plots.bars.at(0).chart.rows == std::vector<std::string>{"b", "bus"});  // without folder and extensions
    }

    TEST_CASE("the reason of a recipe without a time is the report's, or else that of its first kernel") {
        std::string kernels;
        for (const std::string name : {"first", "second"}) {
            std::string kernel = kernel_json(name, "kokkos", "f64", 1);
            kernel.replace(kernel.find("measured"), 8, R"(unsuitable","reason":")" + name);
            kernels += (kernels.empty() ? "" : ",") + kernel;
        }
        const std::vector<Record> of_kernel = records_in(report_json(kernels));
        REQUIRE(of_kernel.size() == 1);
        CHECK(of_kernel[0].reason == "first");
        CHECK(records_in(report_json(kernels, R"("reason":"of the report",)")).at(0).reason == "of the report");
    }

    TEST_CASE("a performance profile ends at the share of matrices that the recipe was measured on") {
        const Plots plots = plots_of({result_of("a", "one", 4), result_of("a", "two", 4), result_of("a", "three", 4),
                                      result_of("rare", "one", 8), result_of("a", "four", 1, {"f32"})},
                                     {});
        REQUIRE(plots.curves.size() == 2);  // a profile per precision; without bandwidths there is no roofline
        CHECK(plots.curves[0].name == "profile_host_f64");
        const XyChart& chart = plots.curves[0].chart;
        REQUIRE(chart.series.size() == 2);
        CHECK(chart.series[0].name == "rare");
        CHECK(chart.series[0].points.back().second == doctest::Approx(1.0 / 3));
        CHECK(chart.series[1].points.back().second == 1);
        // `a` takes twice the time of `rare` on the first matrix.
        CHECK(chart.series[1].points.back().first == 2);
        CHECK(plots.curves[1].chart.series.size() == 1);
    }
}

}  // namespace workbench
