// Benches: lines of results, and child processes that crash.
#include <doctest/doctest.h>

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/contract/errors.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "studies/bench/bench.hpp"
#include "studies/bench/line.hpp"
#include "studies/bench/results_file.hpp"
#include "support/golden.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Names = std::vector<std::string>;

/// A report with the members that a bench reads. `kernels`: JSON.
std::string report_of(const std::string& kernels, const std::string& more = R"("errors": [], "notes": [])") {
    return R"({"recipe": {"name": "?"}, "matrix": {"source": "m.mtx", "rows": 2, "columns": 2, "nonzeros": 3},
        "stages": [{"id": "input", "precision": null}, {"id": "a", "precision": "f32"}, {"id": "b", "precision": "f64"}],
        "layouts": [{"name": "ell", "precision": "f64", "unsuitable": null}, {"name": "ell", "precision": "f32", "unsuitable": "too wide"}],
        "cache": "cold", "turn_seed": 1, "devices": [], "machine": {}, "versions": {}, )" +
           more + R"(, "kernels": [)" + kernels + "]}";
}

std::string kernel_of(const std::string& name, double seconds, const std::string& more, bool baseline = false) {
    return R"({"kernel": ")" + name + R"(", "layout": "ell", "backend": "kokkos", "precision": "f64", "baseline": )" +
           (baseline ? "true" : "false") + R"(, "median_seconds": )" + std::to_string(seconds) + R"(, "samples": [1, 2], )" +
           more + "}";
}

const std::string good =
    R"("status": "measured", "verified": true, "reason": null, "speedup": 1.5, "speedup_interval": [1.25, 2],
    "verdict": "faster")";
const std::string noise =
    R"("status": "measured", "verified": true, "reason": null, "speedup": 1.5, "speedup_interval": [0.5, 2],
    "verdict": "within noise")";
const std::string unfit = R"("status": "unsuitable", "verified": false, "reason": "rows too long")";
const std::string wrong = R"("status": "wrong", "verified": false, "reason": "row 3")";

BenchLine line_of(const std::string& report, Precision precision = Precision::f64, bool keep = false) {
    BenchKey key{"h", "m", 5, precision, "p", "d", "o"};
    return line_of_report(key, {"R", "", "r.toml", "[layout]", false, "work/0_r.toml"}, Json::parse(report), keep);
}

}  // namespace

TEST_SUITE("lines of a bench") {
    TEST_CASE("the hash is FNV-1a") {
        CHECK(content_hash("") == "cbf29ce484222325");
        CHECK(content_hash("a") == "af63dc4c8601ec8c");
        CHECK(content_hash("foobar") == "85944171f73967e8");
    }

    TEST_CASE("a line has one precision of a report, summarised by its fastest verified kernel") {
        const std::string both =
            kernel_of("base", 9, good, true) + "," + kernel_of("slow", 2, noise) + "," + kernel_of("fast", 1, good);
        const BenchLine line = line_of(report_of(both));
        CHECK(line.status == "measured");
        CHECK(line.summary == "1.50 x (1.25 to 2.00), kokkos fast");
        CHECK(line.text.find('\n') == std::string::npos);
        const Json json = Json::parse(line.text);
        CHECK(json["key"].dump() == Json::parse(BenchKey{"h", "m", 5, Precision::f64, "p", "d", "o"}.text()).dump());
        CHECK(line.text.starts_with(
            R"({"key":{"recipe":"h","matrix":"m","bytes":5,"precision":"f64","program":"p","device":"d","options":"o"},)"));
        CHECK(json["stages"].size() == 2);
        CHECK(json["stages"][1]["id"] == "b");
        CHECK(json["layouts"].size() == 1);
        CHECK(json["recipe"]["name"] == "R");
        CHECK(json["kernels"].size() == 3);
        CHECK(json["kernels"][2]["sample_count"] == 2);
        CHECK(!json["kernels"][2].contains("samples"));
        CHECK(Json::parse(line_of(report_of(both), Precision::f64, true).text)["kernels"][2]["samples"].size() == 2);
        CHECK(line_of(report_of(kernel_of("slow", 2, noise))).summary == "within noise (0.500 to 2.00), kokkos slow");
    }

    TEST_CASE("the line of a hybrid is summarised by the kernel of all shares") {
        const std::string whole = good + R"(, "share": null)";
        const std::string of_share =
            R"("status": "measured", "verified": true, "reason": null, "speedup": null, "share": "long")";
        const BenchLine line = line_of(report_of(kernel_of("rows + slices", 3, whole) + "," + kernel_of("rows", 1, of_share)));
        CHECK(line.status == "measured");
        CHECK(line.summary == "1.50 x (1.25 to 2.00), kokkos rows + slices");
        CHECK(Json::parse(line.text)["kernels"].size() == 2);
    }

    TEST_CASE("lines without a measurement have a reason") {
        CHECK(line_of(report_of(kernel_of("fast", 1, good)), Precision::f32).status == "unsuitable");
        CHECK(line_of(report_of(kernel_of("fast", 1, good)), Precision::f32).summary == "too wide");
        CHECK(line_of(report_of(kernel_of("base", 9, good, true) + "," + kernel_of("k", 0, unfit))).summary == "rows too long");
        CHECK(line_of(report_of(kernel_of("fast", 1, good) + "," + kernel_of("k", 0, wrong))).status == "wrong");
        CHECK(line_of(report_of("", R"("errors": [], "notes": ["no kernel for it"])")).summary == "no kernel for it");
        const std::string broken = R"("errors": ["work/0_r.toml:3:12: stage 'x' (work/0_r.toml:7): no"], "notes": [])";
        const std::string not_square = R"("errors": ["not square"], "unsuitable": "not square", "notes": [])";
        CHECK(line_of(report_of("", not_square)).status == "unsuitable");
        CHECK(line_of(report_of("", not_square)).summary == "not square");
        const BenchLine failed = line_of(report_of(kernel_of("base", 9, good, true), broken));
        CHECK(failed.status == "failed");
        CHECK(failed.summary == "r.toml: stage 'x' (r.toml): no");
        CHECK(Json::parse(failed.text)["reason"] == failed.summary);
        CHECK(line_of(report_of(kernel_of("base", 9, good, true))).summary == "the baseline, kokkos base");
    }

    TEST_CASE("a kernel beside the recipe that failed on the GPU leaves that of the CPU") {
        const auto mine = [](const std::string& backend, const std::string& more) {
            return R"({"kernel": "mine", "layout": "ell", "backend": ")" + backend +
                   R"(", "precision": "f64", "baseline": false, "median_seconds": 1, "samples": [1], )" + more + "}";
        };
        const BenchRecipeFacts recipe{.name = "R",
                                      .source = "",
                                      .file = "r.toml",
                                      .resolved = "[kernel]\ncpu_source = \"mine.cpp\"\ncuda_source = \"mine.cu\"\n"};
        const auto line = [&](const std::string& kernels) {
            return line_of_report({"h", "m", 5, Precision::f64, "p", "d", "o"}, recipe, Json::parse(report_of(kernels)), false);
        };
        CHECK(line(mine("cpu", good) + "," + mine("cuda", unfit)).summary == "1.50 x (1.25 to 2.00), cpu mine");
        CHECK(line(mine("cpu", unfit) + "," + mine("cuda", good)).summary == "1.50 x (1.25 to 2.00), cuda mine");
        CHECK(line(mine("cuda", unfit)).summary == "rows too long");
    }

    TEST_CASE("a matrix is compared with the rows and nonzeros that its suite states") {
        std::string report = report_of(kernel_of("fast", 1, good));
        report.replace(report.find(R"("columns": 2)"), 12, R"("columns": 5)");
        using Warnings = std::vector<std::string>;
        const auto warnings = [&report](const MatrixFacts& facts) {
            const BenchKey key{"h", "m", 5, Precision::f64, "p", "d", "o"};
            const BenchLine line =
                line_of_report(key, {"R", "", "r.toml", "[layout]", false, "work/0_r.toml"}, Json::parse(report), false, facts);
            for (const std::string& warning : line.warnings) {
                const Json notes = Json::parse(line.text)["notes"];
                CHECK(std::find(notes.begin(), notes.end(), warning) != notes.end());
            }
            return line.warnings;
        };
        CHECK(warnings({"S", 2, 3}).empty());
        CHECK(warnings({"S", 5, 3}) == Warnings{"the file has 2 rows and 3 nonzeros, but S states 5 and 3"});
        CHECK(warnings({"S", 2, 4}) == Warnings{"the file has 2 rows and 3 nonzeros, but S states 2 and 4"});
    }

    TEST_CASE("the layout's kernel does not stand in for a kernel beside the recipe that failed") {
        const auto line = [](const std::string& report) {
            const BenchKey key{"h", "m", 5, Precision::f64, "p", "d", "o"};
            const std::string resolved = "[layout]\nuse = \"ell\"\n\n[kernel]\ncpu_source = \"/a/mine.cpp\"\n";
            return line_of_report(key, {"R", "", "r.toml", resolved, false, "work/0_r.toml"}, Json::parse(report), false);
        };
        std::string mine = kernel_of("mine", 1, unfit);
        mine.replace(mine.find("kokkos"), 6, "cpu");
        CHECK(line(report_of(kernel_of("fast", 1, good) + "," + mine)).status == "unsuitable");
        CHECK(line(report_of(kernel_of("fast", 1, good) + "," + mine)).summary == "rows too long");
        const std::string broken = R"("errors": ["/a/mine.cpp:3: no"], "notes": [])";
        CHECK(line(report_of(kernel_of("fast", 1, good), broken)).status == "failed");
        const std::string other = R"("errors": ["0_input.png: cannot be written"], "notes": [])";
        CHECK(line(report_of(kernel_of("fast", 1, good), other)).status == "measured");
        std::string right = kernel_of("mine", 1, good);
        right.replace(right.find("kokkos"), 6, "cpu");
        CHECK(line(report_of(kernel_of("fast", 2, good) + "," + right)).summary == "1.50 x (1.25 to 2.00), cpu mine");
        mine.replace(mine.find("f64"), 3, "f32");  // failed in the other precision
        CHECK(line(report_of(right + "," + mine)).summary == "1.50 x (1.25 to 2.00), cpu mine");
    }
}

namespace {

/// Replaces the workbench program; words in a recipe's name control what it does with the recipe.
constexpr const char* stand_in = R"(#!/bin/sh
shift
recipes=""
while [ "$1" != "--no-pictures" ]; do recipes="$recipes $1"; shift; done
out=$3
echo "$5 $7" >> calls.txt
for recipe in $recipes; do
    if grep -q dies $recipe; then kill -SEGV $$; fi
    if grep -q vanishes $recipe; then exit 127; fi
    if grep -q hangs $recipe; then sleep 60; fi
    if grep -q fills $recipe; then echo "error: r.json: cannot be written: No space left on device" >&2; exit 4; fi
    if grep -q refuses $recipe; then echo "noise" >&2; echo "error: $recipe:1:1: no such thing" >&2; exit 3; fi
    folder=$out/$(basename $recipe .toml)
    mkdir -p $folder
    cp report.json $folder/tmp && mv $folder/tmp $folder/report.json
    if grep -q breaks $recipe; then echo '{"runs": []}' > $9; exit 4; fi
done
exit 0
)";

/// Matrix, recipe, precision, status and reason of each line.
std::vector<std::string> lines_of_results() {
    std::vector<std::string> lines;
    std::ifstream stream("r.jsonl");
    for (std::string line; std::getline(stream, line);) {
        const Json json = Json::parse(line);
        lines.push_back(json["key"]["matrix"].get<std::string>().substr(2, 1) + " " +
                        json["recipe"]["name"].get<std::string>() + " " + json["key"]["precision"].get<std::string>() + " " +
                        json["status"].get<std::string>() +
                        (json["reason"].is_null() ? "" : ": " + json["reason"].get<std::string>()));
    }
    return lines;
}

struct Stage {
    TemporaryFolder folder;
    fs::path before = fs::current_path();
    BenchPlan plan;
    std::vector<std::string> said;

    Stage() {
        fs::current_path(folder.path());
        std::ofstream("program") << stand_in;
        (void)chmod("program", 0755);
        std::ofstream("report.json") << report_of(kernel_of("fast", 1, good));
        plan.matrices = {{"f/a.mtx", 1, {MatrixFile{"a.mtx"}}}, {"f/b.mtx", 2, {MatrixFile{"b.mtx"}}}};
        plan.precisions = {Precision::f64, Precision::f32};
        plan.run_options = {"--samples", "5"};
        plan.program = fs::absolute("program");
        plan.version = "1";
        plan.device = "d";
    }
    Stage(const Stage&) = delete;
    Stage& operator=(const Stage&) = delete;
    ~Stage() { fs::current_path(before); }

    void add(const std::string& name, std::vector<Backend> backends = {Backend::kokkos}) {
        const std::string text = "[recipe]\nname = '" + name + "'\n[layout]\nuse = 'csr'\n";
        plan.recipes.push_back({parse_recipe(text, name + ".toml", catalogue()), name + ".toml", std::move(backends), false});
    }

    BenchCount run(int lines_until_stop = 1000000, bool retry = false) {
        ResultsFile results("r.jsonl", retry);
        said.clear();
        const BenchObserver observer{[this](const std::string& line) { said.push_back(line); },
                                     [&] { return static_cast<int>(said.size()) >= lines_until_stop; }};
        return bench(plan, results, observer);
    }
};

}  // namespace

TEST_SUITE("bench") {
    TEST_CASE("one process per matrix; repeating the command measures nothing") {
        Stage stage;
        stage.add("one");
        stage.add("two");
        const BenchCount count = stage.run();
        CHECK(count.measured == 4);
        CHECK(count.unsuitable == 4);
        CHECK(file_text("calls.txt") == "both kokkos\nboth kokkos\n");
        CHECK(lines_of_results() == Names{"a one f64 measured", "a one f32 unsuitable: too wide", "a two f64 measured",
                                          "a two f32 unsuitable: too wide", "b one f64 measured",
                                          "b one f32 unsuitable: too wide", "b two f64 measured",
                                          "b two f32 unsuitable: too wide"});
        CHECK(stage.said[0] == "[1/2] f/a.mtx");
        CHECK(stage.said[1] == "  one f64: 1.50 x (1.25 to 2.00), kokkos fast");
        CHECK(stage.said[2] == "  one f32: unsuitable: too wide");
        CHECK(!fs::exists("r.jsonl.work"));

        CHECK(stage.run().already_measured == 8);
        CHECK(stage.said.empty());
        CHECK(lines_of_results().size() == 8);
        stage.add("three");  // the only one to be measured
        CHECK(stage.run().already_measured == 8);
        CHECK(lines_of_results().size() == 12);
        stage.plan.version = "2";  // all are measured again
        CHECK(stage.run().already_measured == 0);
        stage.plan.software = "another library";
        CHECK(stage.run().already_measured == 0);
        CHECK(stage.run().already_measured == 12);
    }

    TEST_CASE("a recipe whose kernel was edited is measured again") {
        Stage stage;
        stage.plan.precisions = {Precision::f64};
        stage.add("one");
        std::ofstream("two.cpp") << "// first";
        const std::string text = "[recipe]\nname = 'two'\n[layout]\nuse = 'csr'\n[kernel]\ncpu_source = 'two.cpp'\n";
        stage.plan.recipes.push_back(
            {parse_recipe(text, fs::absolute("two.toml"), catalogue()), "two.toml", {Backend::cpu}, false});
        CHECK(stage.run().measured == 4);
        CHECK(stage.run().already_measured == 4);
        std::ofstream("two.cpp") << "// second";
        const BenchCount count = stage.run();
        CHECK(count.already_measured == 2);
        CHECK(count.measured == 2);
        std::ofstream("two.cpp") << "// first";
        CHECK(stage.run().already_measured == 4);
    }

    TEST_CASE("each matrix that contradicts the suite is warned of once") {
        Stage stage;
        for (BenchMatrix& matrix : stage.plan.matrices) matrix.facts = {"S", 7, {}};
        stage.add("one");
        stage.add("two");
        (void)stage.run();
        const std::string warning = "    warning: the file has 2 rows, but S states 7";
        REQUIRE(stage.said.size() == 12);  // a matrix, its first result, the warning and three more results, twice
        CHECK(stage.said[2] == warning);
        CHECK(stage.said[8] == warning);
        CHECK(std::count(stage.said.begin(), stage.said.end(), warning) == 2);
    }

    TEST_CASE("only the missing precision of a recipe runs") {
        Stage stage;
        stage.add("one");
        stage.plan.precisions = {Precision::f64};
        (void)stage.run();
        stage.plan.precisions = {Precision::f64, Precision::f32};
        CHECK(stage.run().already_measured == 2);
        CHECK(file_text("calls.txt") == "f64 kokkos\nf64 kokkos\nf32 kokkos\nf32 kokkos\n");
    }

    TEST_CASE("recipes with other backends run in a separate process") {
        Stage stage;
        stage.plan.matrices.resize(1);
        stage.add("one");
        stage.add("two", {Backend::kokkos, Backend::eigen});
        stage.add("three");
        (void)stage.run();
        CHECK(file_text("calls.txt") == "both kokkos\nboth kokkos,eigen\n");
        CHECK(lines_of_results().size() == 6);
        // A recipe on other backends, or with other options, is another measurement.
        stage.plan.recipes[0].backends = {Backend::eigen};
        CHECK(stage.run().already_measured == 4);
        stage.plan.run_options = {"--samples", "6"};
        CHECK(stage.run().already_measured == 0);
    }

    TEST_CASE("a recipe that crashes its process costs only its own lines") {
        Stage stage;
        stage.plan.matrices.resize(1);
        stage.plan.precisions = {Precision::f64};
        for (const char* name : {"one", "dies", "two", "dies_too", "three"}) stage.add(name);
        const BenchCount count = stage.run();
        CHECK(count.failed == 2);
        CHECK(count.measured == 3);
        CHECK(lines_of_results() ==
              Names{"a one f64 measured", "a dies f64 failed: killed by signal 11 (Segmentation fault)", "a two f64 measured",
                    "a dies_too f64 failed: killed by signal 11 (Segmentation fault)", "a three f64 measured"});
        CHECK(stage.run().already_measured == 5);
        CHECK(stage.run(1000000, true).failed == 2);  // tried again
    }

    TEST_CASE("recipes after one that broke its device run in another process") {
        Stage stage;
        stage.plan.matrices.resize(1);
        stage.plan.precisions = {Precision::f64};
        for (const char* name : {"one", "breaks", "two", "three"}) stage.add(name);
        CHECK(stage.run().measured == 4);
        CHECK(file_text("calls.txt") == "f64 kokkos\nf64 kokkos\n");
    }

    TEST_CASE("a process that cannot be started costs one recipe") {
        Stage stage;
        stage.plan.matrices.resize(1);
        stage.plan.precisions = {Precision::f64};
        for (const char* name : {"one", "vanishes", "two"}) stage.add(name);
        CHECK(stage.run().failed == 1);
        CHECK(lines_of_results() == Names{"a one f64 measured", "a vanishes f64 failed: exit code 127", "a two f64 measured"});
    }

    TEST_CASE("the error of a process is the reason for all recipes that it did not run") {
        Stage stage;
        stage.plan.matrices.resize(1);
        stage.plan.precisions = {Precision::f64};
        for (const char* name : {"one", "refuses", "two"}) stage.add(name);
        CHECK(stage.run().failed == 2);
        CHECK(lines_of_results()[1] == "a refuses f64 failed: refuses.toml: no such thing");
        CHECK(lines_of_results()[2].starts_with("a two f64 failed: "));
        CHECK(lines_of_results()[2].ends_with("_refuses.toml:1:1: no such thing"));  // not in its own file
        CHECK(file_text("calls.txt") == "f64 kokkos\n");
    }

    TEST_CASE("a matrix that cannot be read fails all recipes at once and is reported once") {
        Stage stage;
        stage.plan.matrices.resize(1);
        for (const char* name : {"refuses", "one"}) stage.add(name);
        stage.add("other", {Backend::eigen});
        const BenchCount count = stage.run();
        CHECK(count.failed == 6);
        CHECK(lines_of_results().size() == 6);
        CHECK(file_text("calls.txt") == "both kokkos\n");
        CHECK(stage.said == Names{"[1/1] f/a.mtx", "  3 recipes: failed: refuses.toml: no such thing"});
    }

    TEST_CASE("a matrix whose path is not UTF-8 is what a message blames, not the recipe") {
        Stage stage;
        stage.plan.matrices.push_back({"f/\xFFz.mtx", 3, {MatrixFile{"\xFFz.mtx"}}});
        stage.plan.matrices.push_back({"f/c.mtx", 3, {MatrixFile{"\xE9t\xE9/c.mtx"}}});
        stage.plan.matrices.push_back({"f/d.mtx", 3, {MatrixFile{"\xC3\xA9t\xC3\xA9/d.mtx"}}});  // UTF-8
        stage.plan.precisions = {Precision::f64};
        for (const char* name : {"one", "two"}) stage.add(name);
        const BenchCount count = stage.run();
        CHECK(count.measured == 6);
        CHECK(count.failed == 4);
        const std::string why =
            "has bytes in its path that are not UTF-8, so that no recipe can name it; rename the file or its folder";
        CHECK(std::count(stage.said.begin(), stage.said.end(), "[3/5] f/?z.mtx") == 1);
        CHECK(std::count(stage.said.begin(), stage.said.end(), "  2 recipes: failed: f/?z.mtx " + why) == 1);
        CHECK(std::count(stage.said.begin(), stage.said.end(), "  2 recipes: failed: f/c.mtx " + why) == 1);
        CHECK(lines_of_results().size() == 10);  // each is JSON
        CHECK(stage.run().already_measured == 10);
    }

    TEST_CASE("a full disk ends the bench and is not stored as a failure of the recipe") {
        Stage stage;
        stage.plan.matrices.resize(1);
        for (const char* name : {"one", "fills"}) stage.add(name);
        CHECK(message_of<MachineError>([&] { (void)stage.run(); }) ==
              "r.json: cannot be written: No space left on device; this failure is not stored: free space, then repeat the "
              "command");
        CHECK(lines_of_results() == Names{"a one f64 measured", "a one f32 unsuitable: too wide"});
    }

    TEST_CASE("the time limit is per matrix") {
        Stage stage;
        stage.plan.precisions = {Precision::f64};
        stage.plan.limit_seconds = 0.5;
        // Each measurement takes one second.
        stage.plan.clock.seconds = [&stage] {
            return static_cast<double>(std::count_if(stage.said.begin(), stage.said.end(), [](const std::string& line) {
                return line.find(" x (") != std::string::npos;
            }));
        };
        for (const char* name : {"one", "hangs", "two"}) stage.add(name);
        CHECK(stage.run().failed == 4);
        CHECK(lines_of_results() ==
              Names{"a one f64 measured", "a hangs f64 failed: not finished within the limit of 0.5 s per matrix",
                    "a two f64 failed: not started within the limit of 0.5 s per matrix", "b one f64 measured",
                    "b hangs f64 failed: not finished within the limit of 0.5 s per matrix",
                    "b two f64 failed: not started within the limit of 0.5 s per matrix"});
    }

    TEST_CASE("a stopped bench keeps its results, records no failures, and can be continued") {
        Stage stage;
        stage.plan.precisions = {Precision::f64};
        for (const char* name : {"one", "hangs", "two"}) stage.add(name);
        const BenchCount count = stage.run(2);  // the matrix line and one result
        CHECK(count.stopped);
        CHECK(count.measured == 1);
        CHECK(count.failed == 0);
        CHECK(lines_of_results() == Names{"a one f64 measured"});
        stage.plan.limit_seconds = 0.5;
        CHECK(stage.run().already_measured == 1);
        CHECK(lines_of_results().size() == 6);
    }

    TEST_CASE("baselines") {
        const auto names_of = [](const std::vector<Backend>& backends, bool gpu) {
            Names names;
            for (const BenchRecipe& one : baseline_recipes(catalogue(), backends, gpu)) {
                CHECK(one.baseline);
                if (!one.recipe.name.starts_with("cuSPARSE")) names.push_back(one.recipe.name);
            }
            return names;
        };
        CHECK(names_of({Backend::kokkos, Backend::eigen}, false) == Names{"Kokkos/Eigen CSR", "Kokkos/Eigen CSR, RCM"});
        CHECK(names_of({Backend::cuda}, true).empty());
        // The catalogue of a program built with CUDA.
        Catalogue vendor = catalogue();
        for (LayoutEntry& layout : vendor.layouts) {
            std::erase_if(layout.kernels, [](const KernelEntry& kernel) { return kernel.backend == Backend::cusparse; });
            if (layout.name == "csr" || layout.name == "sell" || layout.name == "staircase_sell") {
                layout.kernels.push_back({"theirs", Backend::cusparse, "", {}});
            }
        }
        for (const Backend wanted : {Backend::cuda, Backend::cusparse}) {
            Names theirs;
            for (const BenchRecipe& one : baseline_recipes(vendor, {wanted}, true)) {
                theirs.push_back(one.recipe.name);
                CHECK(one.backends == std::vector{Backend::cusparse});
            }
            CHECK(theirs == Names{"cuSPARSE", "cuSPARSE, RCM", "cuSPARSE sell", "cuSPARSE sell, RCM"});
        }
        CHECK(baseline_recipes(vendor, {Backend::cuda}, false).empty());
        const auto host = baseline_recipes(catalogue(), {Backend::eigen}, false);
        CHECK(host[0].backends == std::vector{Backend::eigen});
        CHECK(host[1].recipe.stages.at(0).entry->name == "cuthill_mckee");
    }
}

}  // namespace workbench
