// Kernels beside a recipe, compiled and run by the program.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include "cli/shell.hpp"
#include "support/golden.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

Outcome run_workbench(const std::string& arguments, const std::string& environment = "", const char* errors = "2>&1") {
    return shell("cd '" + project.string() + "' && " + environment + " '" WORKBENCH_BINARY "' " + arguments + " " + errors);
}

/// Runs a CSR kernel with this loop body over rows on a matrix of 16 rows.
struct OneRun {
    explicit OneRun(const std::string& body, const std::string& options = "", const std::string& environment = "") {
        std::ofstream(folder.path() / "mine.toml")
            << "[matrix]\ngenerate = 'laplace2d'\nnx = 4\n[layout]\nuse = 'csr'\n[kernel]\ncpu_source = 'mine.cpp'\n";
        std::ofstream(folder.path() / "mine.cpp") << R"(#include <cstdio>
#include "arrays.hpp"
void multiply(const Arrays& arrays, const Value* x, Value* y, bool accumulate) {
    for (Index row = 0; row < arrays.row_count; ++row) {
        Value sum = 0;
        for (Offset k = arrays.row_offsets[row]; k < arrays.row_offsets[row + 1]; ++k) {
            sum += arrays.values[k] * x[arrays.column_indices[k]];
        }
)" << body << "\n    }\n}\n";
        const std::string out = folder.path().string();
        outcome = run_workbench("run " + out + "/mine.toml --backend cpu,kokkos --samples 1 --seconds 0 --cache warm " +
                                    "--no-pictures --out " + out + " " + options,
                                environment);
        std::string& text = outcome.text;
        for (std::size_t at = 0; (at = text.find(out + "/")) != std::string::npos;) text.erase(at, out.size() + 1);
        const std::string json = file_text(folder.path() / "mine" / "report.json");
        if (!json.empty()) report = nlohmann::json::parse(json);
    }
    [[nodiscard]] bool says(const std::string& text) const { return outcome.text.find(text) != std::string::npos; }
    /// "csr rows kokkos measured, ...": all kernels of the report.
    [[nodiscard]] std::string kernels() const {
        std::string text;
        for (const auto& kernel : report["kernels"]) {
            for (const char* key : {"kernel", "backend", "precision", "status"}) text += kernel[key].get<std::string>() + " ";
        }
        return text;
    }

    TemporaryFolder folder;
    Outcome outcome;
    nlohmann::json report;
};

const std::string right = "        y[row] = accumulate ? y[row] + sum : sum;";

TEST_CASE("the output of a kernel is printed to standard error") {
    OneRun one("        if (row == 0) std::puts(\"hello\");\n" + right);
    CHECK(one.outcome.exit_code == 0);
    CHECK(one.says("hello\n"));
    const std::string again = "run " + (one.folder.path() / "mine.toml").string() +
                              " --backend cpu --samples 1 --seconds 0 --cache warm --no-pictures --json - --out " +
                              one.folder.path().string();
    const Outcome apart = run_workbench(again, "", "2>/dev/null");
    CHECK(apart.exit_code == 0);
    CHECK(nlohmann::json::parse(apart.text)["kernels"].size() == 2);
}

TEST_CASE("a bench measures a kernel again after it or a file that it includes was edited") {
    const TemporaryFolder folder;
    const std::string at = folder.path().string();
    std::ofstream(folder.path() / "mine.toml")
        << "[recipe]\nname = 'Mine'\n[layout]\nuse = 'csr'\n[kernel]\ncpu_source = 'mine.cpp'\n";
    std::ofstream(folder.path() / "mine.cpp") << R"(#include "arrays.hpp"
#include "factor.hpp"
void multiply(const Arrays& arrays, const Value* x, Value* y, bool accumulate) {
    for (Index row = 0; row < arrays.row_count; ++row) {
        Value sum = 0;
        for (Offset k = arrays.row_offsets[row]; k < arrays.row_offsets[row + 1]; ++k) {
            sum += factor * arrays.values[k] * x[arrays.column_indices[k]];
        }
        y[row] = accumulate ? y[row] + sum : sum;
    }
}
)";
    const auto bench_with = [&](const std::string& factor) {
        std::ofstream(folder.path() / "factor.hpp") << "constexpr int factor = " << factor << ";\n";
        return run_workbench("bench " + at + "/mine.toml --generate laplace2d:nx=4 --backend cpu --samples 5 --seconds 0 " +
                             "--cache warm --precision f64 --no-page --out " + at + "/r.jsonl");
    };
    const auto says = [](const Outcome& outcome, const std::string& text) {
        return outcome.text.find(text) != std::string::npos;
    };
    CHECK(says(bench_with("1"), "1 measured, 0 unsuitable, 0 wrong, 0 failed, 0 already measured"));
    CHECK(says(bench_with("1"), "0 measured, 0 unsuitable, 0 wrong, 0 failed, 1 already measured"));
    const Outcome wrong = bench_with("2");
    CHECK(wrong.exit_code == 1);
    CHECK(says(wrong, "0 measured, 0 unsuitable, 1 wrong, 0 failed, 0 already measured"));
    CHECK_FALSE(says(wrong, "Mine  "));  // it has left the table
}

TEST_CASE("standard descriptors that are closed do not make a kernel wrong") {
    OneRun one(right);
    const std::string again = "run " + (one.folder.path() / "mine.toml").string() +
                              " --backend cpu --samples 1 --seconds 0 --cache warm --no-pictures --out " +
                              one.folder.path().string();
    std::filesystem::remove(one.folder.path() / "mine" / "report.json");
    CHECK(run_workbench(again, "", "<&- >&- 2>&-").exit_code == 4);
    const nlohmann::json report = nlohmann::json::parse(file_text(one.folder.path() / "mine" / "report.json"));
    REQUIRE(report["kernels"].size() == 2);
    for (const auto& kernel : report["kernels"]) CHECK(kernel["status"] == "measured");
}

TEST_CASE("a kernel prints in its trial only") {
    // Two preparations and products in the trial; verified and timed ones print nothing, whether or not the line is complete.
    const std::string prepare =
        "\n    }\n}\nvoid* prepare(const Arrays&) {\n    {\n        std::puts(\"prepared\");\n        return nullptr;";
    const OneRun one(
        "        if (row == 0) { std::puts(\"hello there\"); std::fputs(\"err,\", stderr); std::fputs(\"rest,\", stdout); }\n" +
            right + prepare,
        "--only mine");
    CHECK(one.outcome.exit_code == 0);
    const auto count = [&](const std::string& text) {
        std::size_t found = 0;
        for (std::size_t at = 0; (at = one.outcome.text.find(text, at)) != std::string::npos; at += text.size()) ++found;
        return found;
    };
    CHECK(count("hello there\n") == 2);
    CHECK(count("prepared\n") == 2);
    CHECK(count("err,") == 2);
    CHECK(count("rest,") == 2);
    CHECK(count("note: mine.cpp prints; its later output is discarded, but timed\n") == 1);
    CHECK(one.says("Kernels"));
}

TEST_CASE("Ctrl-C in compare says that nothing was written, and in solve what is kept") {
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "mine.toml") << "[layout]\nuse = 'csr'\n[kernel]\ncpu_source = 'mine.cpp'\n";
    // The kernel sends SIGINT from its trial, a child process of the program.
    std::ofstream(folder.path() / "mine.cpp") << R"(#include <cerrno>
#include <csignal>
#include <cstring>
#include <unistd.h>
#include "arrays.hpp"
void multiply(const Arrays&, const Value*, Value*, bool accumulate) {
    const bool in_trial = std::strcmp(program_invocation_short_name, "workbench_trial") == 0;
    static bool sent = false;
    if (in_trial && !accumulate && !sent) {
        sent = true;
        kill(getppid(), SIGINT);
    }
}
)";
    const std::string command = "'" WORKBENCH_BINARY "' compare mine.toml '" + (project / "recipes/csr.toml").string() +
                                "' --generate laplace2d:nx=4 --backend cpu --samples 1 --seconds 0 --cache warm --out drawn";
    const Outcome stopped = shell("cd '" + folder.path().string() + "' && " + command + " 2>&1");
    CHECK(stopped.exit_code == 130);
    CHECK(stopped.text ==
          "\nstopping at the next step; Ctrl-C again ends the program at once\n"
          "stopped: a comparison needs both recipes, so nothing was written\n");
    CHECK_FALSE(std::filesystem::exists(folder.path() / "drawn"));
    CHECK_FALSE(std::filesystem::exists(folder.path() / "out"));

    const std::string csr = "'" + (project / "recipes/csr.toml").string() + "'";
    const std::string sell = "'" + (project / "recipes/sell.toml").string() + "'";
    const Outcome solved = workbench_in(
        folder.path(), "solve mine.toml --tune " + csr + " " + sell + " --generate laplace2d:nx=4 --backend cpu --out s");
    CHECK(solved.exit_code == 130);
    // The baseline and mine.toml, whose kernel is wrong; one solve that is tuned with two recipes is left.
    CHECK_MESSAGE(solved.text.ends_with("stopped: 2 of 3 solves are kept in s\n"), solved.text);
}

TEST_CASE("a wrong kernel of the first recipe gives compare its exit code") {
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "mine.toml") << "[layout]\nuse = 'csr'\n[kernel]\ncpu_source = 'mine.cpp'\n";
    std::ofstream(folder.path() / "mine.cpp") << "#include \"arrays.hpp\"\n"
                                                 "void multiply(const Arrays&, const Value*, Value* y, bool) { y[0] = 0; }\n";
    const Outcome compared = workbench_in(
        folder.path(), "compare mine.toml '" + (project / "recipes/csr.toml").string() +
                           "' --generate laplace2d:nx=4 --backend cpu,eigen --samples 1 --seconds 0 --cache warm --no-page");
    CHECK_MESSAGE(compared.exit_code == 1, compared.text);
    CHECK(compared.text.find("csr mine: WRONG") != std::string::npos);
}

TEST_CASE("the output of a kernel that prints without end is cut") {
    const OneRun one("        while (row == 0) std::puts(\"again and again\");\n" + right, "--set kernel.limit_seconds=0.2");
    CHECK(one.outcome.exit_code == 1);
    CHECK(one.says("again and again\n"));
    CHECK(one.says("... the output is cut after 16384 bytes\n"));
    CHECK(one.says("not finished in 0.2 s (limit: limit_seconds)"));
    CHECK(one.outcome.text.size() < 40000);
}

TEST_CASE("explain prints the header of a layout") {
    const std::filesystem::path golden = project / "tests" / "golden";
    const Outcome csr = run_workbench("explain csr --header");
    CHECK(csr.exit_code == 0);
    compare_with_golden(golden / "cli" / "explain_header_csr.txt", csr.text);  // with values, and without
    const Outcome csr_in_f32 = run_workbench("explain csr --header --precision f32");
    CHECK(csr_in_f32.text.find("passes to a kernel beside a recipe, in f32") != std::string::npos);
    CHECK(csr_in_f32.text.find("using Value = float;") != std::string::npos);
    CHECK(csr_in_f32.text.find("\n    const Value* values;") != std::string::npos);
    compare_with_golden(golden / "cli" / "explain_header_ehyb.txt", run_workbench("explain ehyb --header").text);
    const Outcome stage = run_workbench("explain row_sort --header");
    CHECK(stage.exit_code == 2);
    CHECK(stage.text.starts_with("error: --header: no layout is named 'row_sort'; expected one of banded_block, "));
}

TEST_CASE("a kernel beside the recipe is verified and timed like the others") {
    const OneRun one(right, "--precision both");
    CHECK_MESSAGE(one.outcome.exit_code == 0, one.outcome.text);
    CHECK(one.kernels() == "rows kokkos f64 measured mine cpu f64 measured rows kokkos f32 measured mine cpu f32 measured ");
    // The recipe of a report finds the source from any folder.
    const std::string out = one.folder.path().string();
    std::ofstream(one.folder.path() / "again.toml") << one.report["recipe"]["resolved"].get<std::string>();
    const Outcome again = run_workbench("run " + out + "/again.toml --only mine --samples 1 --seconds 0 --cache warm " +
                                        "--no-pictures --out " + out);
    CHECK_MESSAGE(again.exit_code == 0, again.text);
    const auto report = nlohmann::json::parse(file_text(one.folder.path() / "again" / "report.json"));
    CHECK(report["kernels"].size() == 2);
    CHECK(report["kernels"][1]["kernel"] == "mine");
}

TEST_CASE("a kernel beside the recipe multiplies a share of a hybrid") {
    const TemporaryFolder folder;
    const std::string out = folder.path().string();
    std::ofstream(folder.path() / "mine.toml") << R"([matrix]
generate = "laplace2d"
nx = 4
[[stage]]
use = "split"
by = "row_length"
longer_than = 4
[[layout]]
share = "short"
use = "csr"
kernel.cpu_source = "mine.cpp"
[[layout]]
share = "long"
use = "coo"
)";
    const auto run = [&](const std::string& store) {
        std::ofstream(folder.path() / "mine.cpp") << R"(#include "arrays.hpp"
void multiply(const Arrays& arrays, const Value* x, Value* y, bool accumulate) {
    for (Index row = 0; row < arrays.row_count; ++row) {
        Value sum = 0;
        for (Offset k = arrays.row_offsets[row]; k < arrays.row_offsets[row + 1]; ++k) {
            sum += arrays.values[k] * x[arrays.column_indices[k]];
        }
        y[row] = )" << store << ";\n    }\n}\n";
        return run_workbench("run " + out + "/mine.toml --backend cpu,kokkos --samples 1 --seconds 0 --cache warm " +
                             "--no-pictures --out " + out);
    };
    const Outcome right_one = run("accumulate ? y[row] + sum : sum");
    CHECK_MESSAGE(right_one.exit_code == 0, right_one.text);
    const auto report = nlohmann::json::parse(file_text(folder.path() / "mine" / "report.json"));
    REQUIRE(report["kernels"].size() == 4);  // the baseline, the whole, each share
    CHECK(report["kernels"][1]["kernel"] == "mine + runs");
    CHECK(report["kernels"][2]["kernel"] == "mine");
    CHECK(report["kernels"][2]["share"] == "short");
    for (const auto& kernel : report["kernels"]) CHECK(kernel["status"] == "measured");

    const Outcome wrong = run("sum + 1");
    CHECK(wrong.exit_code == 1);
    CHECK_MESSAGE(wrong.text.find("WRONG RESULT") != std::string::npos, wrong.text);
    const Outcome not_compiled = run("sun");
    CHECK(not_compiled.exit_code == 2);
    CHECK_MESSAGE(not_compiled.text.find("mine.cpp:8") != std::string::npos, not_compiled.text);
}

TEST_CASE("the kernels of the teaching recipes are correct") {
    const TemporaryFolder folder;
    for (const char* name : {"my_csr_kernel", "my_sell_kernel", "bitmap", "sell_delta"}) {
        const Outcome outcome = run_workbench(
            std::string("run recipes/teaching/") + name +
            ".toml --generate laplace3d:nx=5 --backend cpu --samples 1 --seconds 0 --cache warm --no-pictures --out " +
            folder.path().string());
        CHECK_MESSAGE(outcome.exit_code == 0, outcome.text);
        CHECK_MESSAGE(outcome.text.find(std::string(" ") + name + " ") != std::string::npos, outcome.text);
    }
}

TEST_CASE("a wrong kernel is reported with its first wrong row and does not stop the others") {
    const OneRun one("        y[row] = (accumulate ? y[row] : 0) + (row == 11 ? 0 : sum);");
    CHECK(one.outcome.exit_code == 1);
    CHECK_MESSAGE(one.says("csr mine cpu f64: WRONG RESULT: row 11: y = 0, expected exactly "), one.outcome.text);
    CHECK(one.kernels() == "rows kokkos f64 measured mine cpu f64 wrong ");
}

TEST_CASE("a kernel that forgets to add is wrong") {
    const OneRun one("        y[row] = sum;");
    CHECK(one.outcome.exit_code == 1);
    CHECK_MESSAGE(one.says("(adding to a y that was there)"), one.outcome.text);
}

TEST_CASE("a kernel that does not end is reported and does not stop the others") {
    const OneRun one("        for (volatile bool always = true; always;) {}", "--set kernel.limit_seconds=0.2");
    CHECK(one.outcome.exit_code == 1);
    CHECK_MESSAGE(one.says("mine.cpp: not finished in 0.2 s (limit: limit_seconds)"), one.outcome.text);
    CHECK_FALSE(one.says("WRONG RESULT"));
    CHECK(one.kernels() == "rows kokkos f64 measured ");
}

TEST_CASE("a kernel that writes out of bounds is reported and does not stop the others") {
    const OneRun one(right + " y[row + 1] = 0;");
    CHECK(one.outcome.exit_code == 1);
    CHECK_MESSAGE(one.says("WRONG RESULT: mine.cpp reaches behind the end of y (element 16 of 16, counted from 0)"),
                  one.outcome.text);
    CHECK(one.kernels() == "rows kokkos f64 measured mine cpu f64 wrong ");
}

TEST_CASE("a kernel that cannot be compiled is reported and does not stop the others") {
    const OneRun one("        y[row] = summ;");
    CHECK(one.outcome.exit_code == 2);
    CHECK_MESSAGE(one.says("error: mine.cpp: "), one.outcome.text);
    const std::string message = "mine.cpp:9:18: error: ";
    CHECK(one.says(message));
    CHECK_MESSAGE(one.outcome.text.find(message) == one.outcome.text.rfind(message), one.outcome.text);
    CHECK(one.says(" cannot compile it; see the table\n"));
    CHECK(OneRun("        y[row] = summ;", "--json -").says(message));  // which prints no table
    CHECK(one.kernels() == "rows kokkos f64 measured ");
}

TEST_CASE("a missing compiler is a note and does not stop the other kernels") {
    const OneRun one(right, "", "CXX=/nowhere/c++");
    CHECK(one.outcome.exit_code == 4);
    CHECK_MESSAGE(one.says("error: CXX names the compiler '/nowhere/c++', which is not there"), one.outcome.text);
    CHECK(one.kernels() == "rows kokkos f64 measured ");
    const OneRun none(right, "", "env -u CXX PATH=/nowhere");
    CHECK(none.outcome.exit_code == 4);
    CHECK_MESSAGE(none.says("no C++ compiler for code beside the recipe: c++, g++ and clang++ are not on PATH"),
                  none.outcome.text);
}

TEST_CASE("a missing source file is an error of the recipe") {
    const OneRun one(right, "--set kernel.cpu_source=none.cpp");
    CHECK(one.outcome.exit_code == 2);
    CHECK_MESSAGE(one.says("error: --set kernel.cpu_source=none.cpp: [kernel], cpu_source: no file none.cpp"),
                  one.outcome.text);
}

}  // namespace
}  // namespace workbench
