// Tables and charts of many runs, with results worked out by hand.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/contract/errors.hpp"
#include "core/text/text_table.hpp"
#include "studies/bench/plots.hpp"
#include "studies/bench/ranking.hpp"
#include "studies/bench/tell_apart.hpp"
#include "support/golden.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"
#include "viz/golden_picture.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

Record measured(const std::string& recipe, const std::string& matrix, double speedup, Interval interval) {
    Record record;
    record.recipe = recipe;
    record.matrix = matrix;
    record.device = "host";
    record.precision = "f64";
    record.status = "measured";
    record.layout = "ell";
    record.kernel = "rows";
    record.backend = "kokkos";
    record.seconds = 0.5;
    record.gflops = 4 * speedup;
    record.gbytes_per_second = 3;
    record.bytes_per_nonzero = 12;
    record.speedup = speedup;
    record.interval = interval;
    record.verdict = "faster";
    record.copy_bandwidth = 5e10;
    record.read_bandwidth = 9e10;
    record.metrics = {{"nonzeros", 1000}, {"rows", 10}, {"columns", 20}};
    record.shape = "ell";
    return record;
}

/// `a` wins on matrix one, ties on two, loses on three, and is unsuitable for four.
std::vector<Record> example_records() {
    std::vector<Record> records{
        measured("a", "f/one.mtx", 4, {3.5, 4.5}),   measured("b & c", "f/one.mtx", 1, {0.9, 1.1}),
        measured("a", "f/two.mtx", 2, {1.5, 2.5}),   measured("b & c", "f/two.mtx", 1.6, {1.4, 1.8}),
        measured("a", "f/three.mtx", 1, {0.9, 1.1}), measured("b & c", "f/three.mtx", 2.5, {2, 3}),
    };
    records[1].metrics["nonzeros"] = records[0].metrics["nonzeros"] = 300000;
    records[4].metrics["nonzeros"] = records[5].metrics["nonzeros"] = 20000;
    records[0].break_even = 12.5;
    Record unfit;
    unfit.recipe = "a";
    unfit.matrix = "f/four.mtx";
    unfit.precision = "f64";
    unfit.status = "unsuitable";
    unfit.reason = "rows of \"8\", too long";
    records.push_back(unfit);
    return records;
}

void compare_summary(const std::string& name, const std::string& text) {
    compare_with_golden(fs::path(WORKBENCH_SOURCE_DIR) / "tests/golden/bench" / name, text);
}

void fit_80_columns(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) CHECK_MESSAGE(line.size() <= 80, line);
}

std::vector<Record> records_of_text(const std::string& text) {
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "f", std::ios::binary) << text;
    std::vector<Record> records;
    add_records({folder.path() / "f"}, records);
    return records;
}

/// The facts about an experiment in a line of a bench.
struct Experiment {
    std::string file = "dir/a.toml";
    std::string layout = "sell";
    std::string height = "8";
    std::string stage = {};
    std::string cache = "cold";
    std::string threads = "2";
    std::string processor = "a new one";
    std::string matrix = "m";
    std::string status = "measured";
};

std::string line_of_experiment(const Experiment& one) {
    using Json = nlohmann::json;
    const std::string resolved = "[recipe]\nname = \"R\"\n\n[matrix]\npath = \"" + one.matrix + "\"\n\n" + one.stage +
                                 "\n[layout]\nuse = \"" + one.layout + "\"\nslice_height = " + one.height + "\n";
    Json line{{"recipe", {{"name", "R"}, {"file", one.file}, {"resolved", resolved}}}, {"matrix", {{"source", one.matrix}}}};
    if (one.status != "measured") {
        line["key"] = {{"precision", "f64"}, {"matrix", one.matrix}};
        line["status"] = one.status;
        return line.dump() + '\n';
    }
    line["cache"] = one.cache;
    line["machine"] = {{"threads", one.threads}};
    line["devices"] = {{{"kind", "host"}, {"name", one.processor}}};
    line["kernels"] = {{{"kernel", "x"}, {"backend", "kokkos"}, {"precision", "f64"}, {"status", "measured"}, {"speedup", 2}}};
    return line.dump() + '\n';
}

using Rows = std::set<std::string>;

/// The names of the rows that a summary of these lines prints.
Rows rows_of_experiments(const std::vector<Experiment>& experiments) {
    std::string text;
    for (const Experiment& one : experiments) text += line_of_experiment(one);
    Rows rows;
    for (const Record& record : records_of_text(text)) rows.insert(record.recipe);
    return rows;
}

}  // namespace

TEST_SUITE("summary") {
    TEST_CASE("min, mean, geometric mean and max") {
        const RatioStatistics statistics = statistics_of({1, 4, 2});
        CHECK(statistics.count == 3);
        CHECK(statistics.least == 1);
        CHECK(statistics.most == 4);
        CHECK(statistics.mean == doctest::Approx(7.0 / 3));
        CHECK(statistics.geometric_mean == doctest::Approx(2));
        CHECK(statistics_of({}).count == 0);
    }

    TEST_CASE("won, tied, and the order by geometric mean") {
        const std::vector<Ranking> rankings = rank(example_records());
        REQUIRE(rankings.size() == 1);
        const Ranking& ranking = rankings[0];
        CHECK(ranking.matrices == 3);
        REQUIRE(ranking.recipes.size() == 2);
        CHECK(ranking.recipes[0].recipe == "a");  // 8^(1/3) against 4^(1/3)
        CHECK(ranking.recipes[0].won == 1);
        CHECK(ranking.recipes[0].tied == 1);
        CHECK(ranking.recipes[0].not_measured == 1);
        CHECK(ranking.recipes[0].speedup.geometric_mean == doctest::Approx(2));
        CHECK(ranking.recipes[1].won == 1);
        CHECK(ranking.recipes[1].tied == 1);
        CHECK(ranking.recipes[1].speedup.geometric_mean == doctest::Approx(std::cbrt(4)));
    }

    TEST_CASE("nothing is won without intervals or competitors") {
        std::vector<Record> records = example_records();
        for (Record& record : records) record.interval.reset();
        CHECK(rank(records)[0].recipes[0].won == 0);
        CHECK(rank(records)[0].recipes[0].tied == 3);
        CHECK(rank({measured("a", "m", 2, {1.5, 3})})[0].recipes[0].won == 0);
    }

    TEST_CASE("one against the others") {
        const std::vector<Record> records = example_records();
        const auto table = against_others(records, rank(records)[0], "a");
        REQUIRE(table.size() == 1);
        CHECK(table[0].other == "b & c");
        CHECK(table[0].faster == 2);
        CHECK(table[0].ratio.least == doctest::Approx(0.4));
        CHECK(table[0].ratio.most == doctest::Approx(4));
        CHECK(table[0].ratio.mean == doctest::Approx((4 + 1.25 + 0.4) / 3));
        CHECK(message_of<RecipeError>([&] { (void)ranking_text(records, "aa"); }) ==
              "--of aa: no recipe of this name was measured; did you mean 'a'? Expected one of 'a', 'b & c'");
    }

    TEST_CASE("one against no others") {
        const std::vector<Record> alone{measured("a", "m", 2, {1.5, 3})};
        const std::string text = ranking_text(alone, "a");
        CHECK(text == ranking_text(alone) + "  --of a: no other recipe was measured on the same matrices.\n");
        CHECK(ranking_tex(alone, "a") == ranking_tex(alone));
    }

    TEST_CASE("the tables") {
        std::vector<Record> records = example_records();
        fit_80_columns(ranking_text(records, "a"));
        records.push_back(measured("a name that is much longer than its column in the table", "f/one.mtx", 123.4, {100, 150}));
        compare_summary("ranking.txt", ranking_text(records, "a"));
        compare_summary("ranking.tex", ranking_tex(records, "a"));
        compare_summary("records.csv", records_csv(records));
        CHECK(ranking_text({}) == "nothing was measured\n");
        records[2].break_even = 1.5e12;
        records[4].break_even = 99999;
        records[5].break_even = 123456;
        fit_80_columns(prices_text(records));
        compare_summary("prices.txt", prices_text(records));
        CHECK(prices_text({}).empty());
    }

    TEST_CASE("names that are cut stay different") {
        using Names = std::vector<std::string>;
        CHECK(shortened(Names{"short", "heights: slice_height=32"}, 16) == Names{"short", "heights: sh32"});
        CHECK(shortened(Names{"heights: slice_height=32, window=256", "heights: slice_height=32, window=16", "sell"}, 29) ==
              Names{"heights: sh32 w256", "heights: sh32 w16", "sell"});
        const Names sweep{"SELL-32-1024: window=256, slice_height=8", "SELL-32-1024: window=256, slice_height=32",
                          "SELL-32-1024: window=max, slice_height=32"};
        CHECK(shortened(sweep, 42) == sweep);
        CHECK(shortened(sweep, 40) == Names{"SELL-32-1024: w256 sh8", "SELL-32-1024: w256 sh32", "SELL-32-1024: max sh32"});
        CHECK(shortened(sweep, 21) == Names{"SELL-32-...: w256 sh8", "SELL-32...: w256 sh32", "SELL-32-...: max sh32"});
        CHECK(shortened(sweep, 16) == Names{"SEL...: w256 sh8", "w256 sh32", "SEL...: max sh32"});
        CHECK(shortened(Names{"laplace of one", "laplace of ones", "laplace of one"}, 14) ==
              Names{"laplace of one", "laplace of ...", "laplace of one"});
        CHECK(shortened(Names{"m\u00fcller_in_the_north_1", "m\u00fcller_in_the_north_2"}, 16) ==
              Names{"m\u00fcller_i...rth_1", "m\u00fcller_i...rth_2"});
        CHECK(shortened(Names{"abcdefghijklmno1pqrstuvw", "abcdefghijklmno2pqrstuvw"}, 16) ==
              Names{"abcdefghij... #1", "abcdefghij... #2"});
    }

    TEST_CASE("files: lines, one report, several reports, an incomplete line, other files") {
        const TemporaryFolder folder;
        const std::string kernels =
            R"([{"layout":"csr","kernel":"base","backend":"kokkos","precision":"f64","baseline":true,"status":"measured","median_seconds":2,"speedup":1,"speedup_interval":null},
                {"layout":"ell","kernel":"x","backend":"kokkos","precision":"f64","baseline":false,"status":"measured","median_seconds":1,"speedup":2,"speedup_interval":[1.5,2.5],"verdict":"faster"}])";
        std::string report =
            R"({"recipe":{"name":"R"},"matrix":{"source":"m","rows":7},"stages":[{"id":"input"}],"layouts":[{"name":"ell"}],"kernels":)" +
            kernels + "}";
        std::erase(report, '\n');
        const auto read = [&](const std::string& text) {
            std::ofstream(folder.path() / "f", std::ios::binary) << text;
            std::vector<Record> records;
            add_records({folder.path() / "f"}, records);
            return records;
        };
        for (const std::string& text :
             {report, "{\"runs\":[" + report + "]}", report + "\n" + report + "\n", report + "\n{\"key\":{\"reci",
              report + "\n\n", "\n" + report + "\r\n \t\n" + report + "\n\n"}) {
            const auto records = read(text);
            REQUIRE(records.size() == 1);
            CHECK(records[0].recipe == "R");
            CHECK(records[0].kernel == "x");
            CHECK(records[0].speedup == 2);
            CHECK(records[0].interval == Interval{1.5, 2.5});
            CHECK(records[0].metrics.at("rows") == 7);
        }
        const std::string file = (folder.path() / "f").string();
        CHECK(message_of<RecipeError>([&] { (void)read(report + "\nnotes\n"); }) ==
              file + ":2:1: neither a line of a bench nor the JSON of a run; remove this line to use the others");
        CHECK(message_of<RecipeError>([&] { (void)read("notes\n" + report + "\n"); }) ==
              file + ":1:1: neither a line of a bench nor the JSON of a run");
        const std::string swept = R"({"recipe":{"name":"R"},"sweep":{"stage.row_sort.window":256,"layout.slice_height":8},)" +
                                  report.substr(report.find("\"matrix\""));
        CHECK(read(swept)[0].recipe == "R: window=256, slice_height=8");
        CHECK(message_of<RecipeError>([&] {
                  std::vector<Record> none;
                  add_records({folder.path() / "g"}, none);
              }) == (folder.path() / "g").string() + ": cannot be read; expected the lines of a bench or the JSON of a run");
    }

    TEST_CASE("experiments of one name have rows of their own, which name what differs") {
        // Rows with parameters that are the same everywhere do not name them.
        const Experiment plain;
        CHECK(rows_of_experiments({plain, plain}) == Rows{"R"});
        CHECK(rows_of_experiments({plain, {.height = "16"}}) == Rows{"R: slice_height=16", "R: slice_height=8"});
        CHECK(rows_of_experiments({plain, {.layout = "ell"}}) == Rows{"R: layout=ell", "R: layout=sell"});
        CHECK(rows_of_experiments({plain, {.cache = "warm"}}) == Rows{"R: cold", "R: warm"});
        CHECK(rows_of_experiments({plain, {.threads = "1"}}) == Rows{"R: 1 thread", "R: 2 threads"});
        CHECK(rows_of_experiments({plain, {.file = "dir/b.toml"}}) == Rows{"R: a.toml", "R: b.toml"});
        CHECK(rows_of_experiments({plain, {.file = "dir/b.toml", .height = "16"}}) == Rows{"R: a.toml", "R: b.toml"});
        CHECK(rows_of_experiments({plain, {.processor = "an old one"}}) == Rows{"R: a new one", "R: an old one"});
        CHECK(rows_of_experiments({plain, {.stage = "[[stage]]\nuse = \"row_sort\"\nwindow = 4\n"}}) ==
              Rows{"R: stages=none", "R: stages=row_sort, window=4"});
        CHECK(rows_of_experiments({plain, {.height = "16", .cache = "warm"}, {.height = "16"}}) ==
              Rows{"R: cold, slice_height=16", "R: cold, slice_height=8", "R: warm, slice_height=16"});
        // The name of a matrix is no difference, and neither is a repeated measurement that failed before.
        CHECK(rows_of_experiments({{.matrix = "other"}, plain}) == Rows{"R"});
        CHECK(rows_of_experiments({{.status = "failed"}, plain}) == Rows{"R"});
    }

    TEST_CASE("facts of a resolved recipe") {
        using Facts = std::map<std::string, std::string>;
        CHECK(facts_of_recipe(
                  "[recipe]\nname   = \"a\"\nsource = \"b\"\nprepare = \"gpu\"\n\n[matrix]\nrows      = [\n    \"1 = 2\",\n]\n"
                  "node_size = 3\n\n[[stage]]\nid     = \"sort\"\nuse    = \"row_sort\"\nwindow = 4\n\n[[stage]]\nuse = "
                  "\"split\"\n\n[[layout]]\nshare = \"first\"\nuse = \"ell\"\n\n[kernel]\nside_by_side = true\n") ==
              Facts{{"recipe.prepare", "\"gpu\""},
                    {"recipe.stages", "row_sort+split"},
                    {"matrix.node_size", "3"},
                    {"stage.sort.window", "4"},
                    {"layout.first.share", "\"first\""},
                    {"layout.first.use", "\"ell\""},
                    {"kernel.side_by_side", "true"}});
    }

    TEST_CASE("recipes of one name are told apart by their files") {
        const auto recipe = [](const std::string& name, const std::string& file) {
            Recipe recipe;
            recipe.name = name;
            recipe.file = file;
            return recipe;
        };
        std::vector<Recipe> recipes{recipe("A", "base.toml"), recipe("A", "x/a.toml"), recipe("A", "x/b.toml"),
                                    recipe("B", "x/c.toml"),  recipe("C", "x/d.toml"), recipe("C", "y/d.toml")};
        tell_names_apart(recipes, 1);
        std::vector<std::string> names;
        for (const Recipe& one : recipes) names.push_back(one.name);
        CHECK(names == std::vector<std::string>{"A", "A (a.toml)", "A (b.toml)", "B", "C (x/d.toml)", "C (y/d.toml)"});
    }

    TEST_CASE("a recipe whose own kernel failed is not ranked by its layout's kernel") {
        for (const std::string& status : {std::string("wrong"), std::string("unsuitable")}) {
            const std::vector<Record> records = records_of_text(
                R"({"recipe":{"name":"R","resolved":"[kernel]\ncpu_source = \"/a/mine.cpp\"\n"},"matrix":{"source":"m"},"kernels":[)"
                R"({"layout":"ell","kernel":"x","backend":"kokkos","precision":"f64","status":"measured","median_seconds":1,"speedup":2},)"
                R"({"layout":"ell","kernel":"mine","backend":"cpu","precision":"f64","status":")" +
                status + R"(","reason":"row 3"}]})");
            REQUIRE(records.size() == 1);
            CHECK(records[0].status == status);
            CHECK(records[0].reason == "row 3");
            CHECK(ranking_text(records) == "nothing was measured\n");
        }
    }

    TEST_CASE("a truncated or empty file is an error; a line that is cut off is left out with a note") {
        const TemporaryFolder folder;
        const fs::path file = folder.path() / "r.jsonl";
        const auto add = [&](const std::string& text) {
            std::ofstream(file, std::ios::binary) << text;
            std::vector<Record> records;
            const std::vector<std::string> notes = add_records({file}, records);
            return notes.empty() ? std::string() : notes.front();
        };
        CHECK(message_of<RecipeError>([&] { (void)add("{\"key\":{\"recipe\":\"1\""); }) ==
              file.string() + ":1: this line is incomplete and left out; repeat the bench");
        for (const char* empty : {"", "\n \n"}) {
            CHECK(message_of<RecipeError>([&] { (void)add(empty); }) ==
                  file.string() + ": this file is empty; expected the lines of a bench or the JSON of a run");
        }
        const std::string line = R"({"recipe":{"name":"R"},"matrix":{"source":"m"},"kernels":[]})";
        CHECK(add(line + "\n{\"key\":{\"rec") == file.string() + ":2: this line is incomplete and left out; repeat the bench");
        CHECK(add(line + "\n").empty());
    }

    TEST_CASE("the charts, to the byte") {
        std::vector<Record> records = example_records();
        const Plots plots = plots_of(records, {"nonzeros"});
        REQUIRE(plots.bars.size() == 1);
        check_golden("chart_bars", image_of(plots.bars[0].chart));
        compare_summary("bars.svg", svg_of(plots.bars[0].chart));
        std::vector<std::string> names;
        for (const auto& plot : plots.curves) {
            names.push_back(plot.name);
            check_golden("chart_" + plot.name, image_of(plot.chart));
        }
        CHECK(names == std::vector<std::string>{"profile_host_f64", "speedup_nonzeros_host_f64", "roofline_host_f64"});
        compare_summary("profile.svg", svg_of(plots.curves[0].chart));
        REQUIRE(plots.maps.size() == 1);
        check_golden("chart_map", image_of(plots.maps[0].chart));

        const TemporaryFolder folder;
        CHECK(files_of(plots).size() == 10);
        write_plots(plots, folder.path());
        for (const std::string& name : files_of(plots)) CHECK(fs::exists(folder.path() / name));
        CHECK(file_text(folder.path() / "bars_host_f64.svg") == svg_of(plots.bars[0].chart));
    }

    TEST_CASE("recipes that differ in one number give a curve, in two a heat map") {
        std::vector<Record> records;
        for (const double height : {2.0, 4.0, 8.0, 64.0}) {
            records.push_back(
                measured("h" + std::to_string(height), "one.mtx", std::sqrt(height), {height == 2 ? 0.9 : 1.1, 2}));
            records.back().parameters = {{"layout.slice_height", height}, {"layout.other", 3}};
        }
        Plots plots = plots_of(records, {});
        CHECK(plots.curves.back().name == "sweep_1_host_f64");
        REQUIRE(plots.curves.back().chart.series.size() == 1);
        CHECK(plots.curves.back().chart.series[0].hollow == std::set<std::size_t>{0});
        CHECK(plots.curves.back().chart.foot == "hollow: within noise");
        CHECK(plots.curves.back().chart.series[0].points[2] == std::pair{8.0, std::exp(std::log(std::sqrt(8.0)))});
        check_golden("chart_sweep", image_of(plots.curves.back().chart));

        records.pop_back();
        for (Record& record : records) record.parameters["stage.row_sort.window"] = 16;
        for (const double height : {2.0, 8.0}) {
            records.push_back(measured("w" + std::to_string(height), "one.mtx", 1 / height, {0, 1}));
            records.back().parameters = {{"layout.slice_height", height}, {"layout.other", 3}, {"stage.row_sort.window", 32}};
        }
        plots = plots_of(records, {});
        const HeatMap& map = plots.maps.back().chart;
        using Cells = std::set<std::pair<std::size_t, std::size_t>>;
        CHECK(map.without_colour == Cells{{0, 0}, {0, 1}, {2, 1}});
        CHECK(map.foot == "no colour: within noise");
        CHECK(map.row_label == "layout.slice_height");
        CHECK(map.column_label == "stage.row_sort.window");
        CHECK(map.rows == std::vector<std::string>{"2", "4", "8"});
        CHECK(map.columns == std::vector<std::string>{"16", "32"});
        CHECK(map.values[0][1] == std::exp(std::log(0.5)));
        CHECK(!map.values[1][1]);
        check_golden("chart_sweep_map", image_of(map));
    }

    TEST_CASE("a parameter that refers to another is no axis of its own") {
        std::vector<Record> records;
        for (const double height : {32.0, 64.0}) {
            for (const double alpha : {0.01, 0.1}) {
                records.push_back(measured(std::to_string(height) + std::to_string(alpha), "one.mtx", height * alpha, {2, 3}));
                records.back().parameters = {
                    {"layout.slice_height", height}, {"stage.groups.alpha", alpha}, {"stage.groups.slice_height", height}};
            }
        }
        const auto axes = [&] {
            const Plots plots = plots_of(records, {});
            const HeatMap& map = plots.maps.back().chart;
            return std::pair(map.row_label, map.column_label);
        };
        CHECK(axes() == std::pair<std::string, std::string>("layout.slice_height", "stage.groups.alpha"));
        records[3].parameters["stage.groups.slice_height"] = 128;  // three numbers differ, which no map shows
        CHECK(axes().first.empty());
    }

    TEST_CASE("the parts of preprocessing, in products") {
        std::vector<Record> records{measured("a", "f/one.mtx", 2, {1, 3}), measured("a", "two.mtx", 2, {1, 3}),
                                    measured("plain", "two.mtx", 1, {1, 1})};
        records[0].seconds = 0.5;
        records[0].preparation = {{"partition", 10}, {"sort", 2}, {"layout", 1}, {"copy", 0.5}};
        records[1].seconds = 0.25;
        records[1].preparation = {{"partition", 2}, {"sort", 3}, {"layout", 1}, {"copy", 0.25}, {"vectors", 0.25}};
        records[2].preparation = {{"layout", 1}, {"copy", 1}};  // without stages there is no chart
        Plots plots = plots_of(records, {});
        REQUIRE(plots.bars.size() == 2);
        CHECK(plots.bars[1].name == "preprocessing_1_host_f64");
        const BarChart& chart = plots.bars[1].chart;
        CHECK(chart.title == "Preprocessing of a");
        CHECK(chart.rows == std::vector<std::string>{"one", "two"});
        CHECK(chart.series == std::vector<std::string>{"partition", "sort", "layout", "copy", "vectors"});
        using Row = std::vector<std::optional<double>>;
        CHECK(chart.values[0] == Row{20, 4, 2, 1, std::nullopt});
        CHECK(chart.values[1] == Row{8, 12, 4, 1, 1});
        check_golden("chart_stacked", image_of(chart));

        records[0].preparation = {{"a", 1}, {"b", 8}, {"c", 7}, {"d", 6}, {"e", 5}, {"f", 4}, {"g", 3}, {"layout", 0.5}};
        plots = plots_of({records[0]}, {});
        CHECK(plots.bars[1].chart.series == std::vector<std::string>{"b", "c", "d", "e", "f", "g", "others"});
        CHECK(plots.bars[1].chart.values[0].back() == 3.0);
    }

    TEST_CASE("noise is marked, but not for the baseline") {
        std::vector<Record> records{measured("a", "m", 2, {1.5, 3}), measured("b", "m", 1.2, {1, 1.5}),
                                    measured("c", "m", 0.9, {0.7, 1}), measured("d", "m", 1, {1, 1}),
                                    measured("e", "m", 0.8, {0, 0})};
        records[3].verdict = "baseline";
        records[4].interval.reset();  // too few samples
        Plots plots = plots_of(records, {"rows"});
        const XyChart& scattered = plots.curves[1].chart;
        std::vector<std::size_t> hollow;
        for (const Series& series : scattered.series) hollow.push_back(series.hollow.count(0));
        CHECK(hollow == std::vector<std::size_t>{0, 1, 0, 1, 1});  // a, b, d, c, e: by speed-up
        CHECK(scattered.foot == "hollow: within noise");
        CHECK(plots.maps[0].chart.without_colour == std::set<std::pair<std::size_t, std::size_t>>{{0, 1}, {0, 3}, {0, 4}});
        const BarChart& bars = plots.bars[0].chart;
        CHECK(bars.spans.size() == 3);
        CHECK(bars.spans.at({0, 3}) == std::pair{0.7, 1.0});
        BarChart wide = bars;  // the longest bar is 2; intervals are clipped at 1.25 times that
        wide.spans = {{{0, 3}, {0.7, 2.5}}};
        const std::string to_the_edge = svg_of(wide);
        wide.spans = {{{0, 3}, {0.7, 1000}}};
        CHECK(svg_of(wide) == to_the_edge);

        plots = plots_of({measured("a", "m", 2, {1.5, 3}), records[3]}, {"rows"});
        CHECK(plots.curves[1].chart.foot.empty());
        CHECK(plots.maps[0].chart.foot.empty());
        CHECK(plots.maps[0].chart.without_colour.empty());
    }

    TEST_CASE("axes have round marks") {
        const auto marks = [](bool logarithmic, double low, double high) {
            return Scale({"", logarithmic}, {low, high}, {0, 100}).marks();
        };
        using Marks = std::vector<double>;
        CHECK(marks(false, 0, 9) == Marks{0, 2, 4, 6, 8, 10});
        CHECK(marks(false, 0, 1).size() == 6);
        CHECK(marks(true, 3, 40) == Marks{2, 5, 10, 20, 50});
        CHECK(marks(true, 1000, 300000) == Marks{1000, 10000, 100000, 1000000});
        CHECK(Scale({"", true}, {1, 100}, {0, 100}).at(10) == doctest::Approx(50));
        CHECK(mark_text(20000) == "20k");
        CHECK(mark_text(0.5) == "0.5");
        CHECK(mark_text(0.00001) == "1e-05");
    }
}

}  // namespace workbench
