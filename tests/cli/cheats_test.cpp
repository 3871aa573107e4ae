// Kernels beside a recipe that are right when they are verified, and cheat when they are timed.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "cli/shell.hpp"
#include "support/golden.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

/// A CSR kernel that does this before it multiplies; `call` counts its products from 1, without those of the trial, where x
/// is 1.
struct Cheat {
    explicit Cheat(const std::string& trick) {
        std::ofstream(folder.path() / "mine.toml")
            << "[recipe]\nname = 'Mine'\n[layout]\nuse = 'csr'\n[kernel]\ncpu_source = 'mine.cpp'\n";
        std::ofstream(folder.path() / "mine.cpp") << R"(#include "arrays.hpp"
#include <vector>
void multiply(const Arrays& arrays, const Value* x, Value* y, bool accumulate) {
    static int call = 0;
    call += x[0] != x[1];
    const Index count = arrays.row_count;
    Index rows = count;
)" << trick << R"(
    for (Index row = 0; row < rows; ++row) {
        Value sum = 0;
        for (Offset k = arrays.row_offsets[row]; k < arrays.row_offsets[row + 1]; ++k) {
            sum += arrays.values[k] * x[arrays.column_indices[k]];
        }
        y[row] = accumulate ? y[row] + sum : sum;
    }
}
)";
    }

    [[nodiscard]] Outcome workbench(const std::string& command, const std::string& options) const {
        return workbench_in(folder.path(), command + " mine.toml --generate laplace2d:nx=40 " + options);
    }

    TemporaryFolder folder;
};

const std::string returns_at_once = "if (call >= 8) return;";
const std::string on_cpu = " --backend cpu,kokkos --samples 20 --seconds 0 ";
const std::string run_options = on_cpu + "--no-pictures --out out --precision f64 ";

/// `compare` wraps its lines: spaces and ends of lines count as one space.
bool says(const Outcome& outcome, const std::string& text) {
    std::string words;
    for (const char letter : outcome.text) {
        const bool is_space = letter == ' ' || letter == '\n';
        if (!is_space || words.empty() || words.back() != ' ') words += is_space ? ' ' : letter;
    }
    return words.find(text) != std::string::npos;
}

void check_wrong(const Outcome& outcome) {
    CHECK_MESSAGE(outcome.exit_code == 1, outcome.text);
    const bool in_time = says(outcome, "(in timed run ");  // or soon after, by the samples that are chosen at random
    CHECK_MESSAGE((in_time || says(outcome, " after the timed ones, the kernel was right before)")), outcome.text);
}

}  // namespace

TEST_CASE("a kernel that cheats when it is timed is wrong, whatever the state of the caches") {
    const Cheat honest("");
    const Cheat returns(returns_at_once);
    for (const std::string cache : {"--cache cold", "--cache warm", "--inside cg"}) {
        CAPTURE(cache);
        CHECK(honest.workbench("run", run_options + cache).exit_code == 0);
        const Outcome outcome = returns.workbench("run", run_options + cache);
        check_wrong(outcome);
        CHECK_MESSAGE(says(outcome, "csr mine cpu f64: WRONG RESULT: row "), outcome.text);
    }
}

TEST_CASE("half of the rows, zeros, and a y that is kept for some elements of x") {
    check_wrong(Cheat("if (call >= 8) rows = count / 2;").workbench("run", run_options + "--cache warm"));
    for (const std::string first : {"12", "30"}) {
        const Cheat zeros("if (call >= " + first + ") { for (Index row = 0; row < count; ++row) y[row] = 0; return; }");
        check_wrong(zeros.workbench("run", run_options + "--cache warm"));
    }
    const Cheat late("if (call >= 30) { for (Index row = 0; row < count; ++row) y[row] = 0; return; }");
    const Outcome outcome = late.workbench("run", run_options + "--cache cold");
    CHECK_MESSAGE(outcome.exit_code == 1, outcome.text);
    CHECK_MESSAGE(says(outcome, "the kernel was right before)"), outcome.text);
    const Cheat caches(R"(
    static std::vector<Value> kept, key;
    const std::vector<Value> now{x[0], x[count / 3], x[count / 2], x[count - 1]};
    if (!accumulate && now == key) {
        for (Index row = 0; row < count; ++row) y[row] = kept[row];
        return;
    }
    kept.assign(count, 0);
    key = now;
    for (Index row = 0; row < count; ++row) {
        for (Offset k = arrays.row_offsets[row]; k < arrays.row_offsets[row + 1]; ++k) {
            kept[row] += arrays.values[k] * x[arrays.column_indices[k]];
        }
    })");
    for (const std::string cache : {"--cache cold", "--cache warm"}) check_wrong(caches.workbench("run", run_options + cache));
}

TEST_CASE("a kernel that counts its calls is noticed before it is timed") {
    Cheat returns(returns_at_once);
    const std::string text = file_text(returns.folder.path() / "mine.cpp");
    std::ofstream(returns.folder.path() / "mine.cpp") << replaced(text, "call += x[0] != x[1];", "++call;");
    const Outcome outcome = returns.workbench("run", run_options);
    CHECK(outcome.exit_code == 1);
    CHECK_MESSAGE(says(outcome, "mine.cpp gives another result for the same x: y["), outcome.text);
    CHECK_MESSAGE(says(outcome, "or a product depends on earlier ones"), outcome.text);
}

TEST_CASE("every command that times kernels compares their results") {
    const Cheat returns(returns_at_once);
    const Outcome bench = returns.workbench("bench", on_cpu + "--no-page --out r.jsonl");
    check_wrong(bench);
    CHECK_MESSAGE(says(bench, "2 measured, 0 unsuitable, 1 wrong"), bench.text);
    check_wrong(returns.workbench("compare", csr_file + on_cpu + "--no-page --precision f64"));
    CHECK_FALSE(std::filesystem::exists(returns.folder.path() / "out" / "compare.html"));
    const Outcome choose = returns.workbench("choose", "--backend cpu,kokkos --budget 40 --products 1");
    check_wrong(choose);
    CHECK_MESSAGE(says(choose, "WRONG RESULT of kernel mine"), choose.text);
    // The iterations of a solve are right if its true residual is small; the product outside of them is timed.
    const Outcome solve = Cheat("if (call >= 30) return;").workbench("solve", "--backend cpu --iterations 20 --tolerance 0.5");
    CHECK_MESSAGE(solve.exit_code == 1, solve.text);
    CHECK_MESSAGE(says(solve, "WRONG KERNEL"), solve.text);
}

}  // namespace workbench
