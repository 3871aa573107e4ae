// workbench judge, on kernels that are right, wrong, dishonest or nosy.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "cli/shell.hpp"
#include "core/system/beside_program.hpp"
#include "support/golden.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* right_product = R"(
    for (Index row = 0; row < a.row_count; ++row) {
        Value sum = 0;
        for (Offset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) sum += a.values[k] * x[a.column_indices[k]];
        y[row] = sum;
    })";

/// A file whose function `multiply` has this body.
struct Judged {
    explicit Judged(const std::string& body, const std::string& before = "") {
        std::ofstream(folder.path() / "kernel.cpp")
            << "#include \"arrays.hpp\"\n#include <fstream>\n#include <unistd.h>\n#include <vector>\n"
            << before << "void multiply(const Arrays& a, const Value* x, Value* y, bool) {\n"
            << body << "\n}\n";
    }

    [[nodiscard]] Outcome judge(const std::string& options = "") const {
        return workbench_in(folder.path(), "judge kernel.cpp --out out --rivals " WORKBENCH_SOURCE_DIR
                                           "/recipes/sell.toml"
                                           " --samples 20 --seconds 0 --generate laplace2d:nx=20 --generate "
                                           "random_uniform:rows=90,columns=70,shortest=0,longest=40 " +
                                               options);
    }

    TemporaryFolder folder;
};

}  // namespace

TEST_CASE("judge: a right kernel that prepares arrays of its own") {
    const Judged judged(R"(
    const std::vector<Value>& own = *static_cast<std::vector<Value>*>(a.prepared);
    for (Index row = 0; row < a.row_count; ++row) {
        Value sum = 0;
        for (Offset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) sum += own[k] * x[a.column_indices[k]];
        y[row] = sum;
    })",
                        R"(
void* prepare(const Arrays& a) { return new std::vector<Value>(a.values, a.values + a.values_size); }
void release(void* own) { delete static_cast<std::vector<Value>*>(own); }
)");
    const Outcome outcome = judged.judge("--json verdict.json");
    CHECK_MESSAGE(outcome.exit_code == 0, outcome.text);
    CHECK_MESSAGE(outcome.text.find("kernel.cpp, f64: right and honest\n  right    on 2 of 2 matrices\n") != std::string::npos,
                  outcome.text);
    const Json json = Json::parse(file_text(judged.folder.path() / "verdict.json"));
    CHECK(json["verdict"] == "right and honest");
    const Json& one = json["matrices"][0];
    for (const char* other : {"vendor", "workbench"}) CHECK(one[other]["seconds"] > 0);
    // 1,920 values of its own beside the arrays of CSR: at least a quarter of these, so that they count alone.
    CHECK(one["bytes_per_nonzero"] == doctest::Approx((8 * 1920 + 8 * 800) / 1920.0).epsilon(0.02));
    for (const char* key : {"seconds", "setup_seconds", "first_seconds", "new_values_seconds"}) CHECK(one[key] > 0);
    CHECK(std::filesystem::exists(judged.folder.path() / "out/judge.html"));
    CHECK(std::filesystem::exists(judged.folder.path() / "out/judged.jsonl"));
}

TEST_CASE("judge: a wrong kernel, one that cheats late, and one that prepares nothing") {
    const Outcome wrong = Judged("if (a.row_count > 0) y[0] = 0;").judge("--no-page");
    CHECK_MESSAGE(wrong.exit_code == 1, wrong.text);
    CHECK_MESSAGE(wrong.text.find("wrong    rows not written on 2") != std::string::npos, wrong.text);
    const std::string late = std::string("static int call = 0; call += x[0] != x[1];\n") +
                             "if (call > 40) { for (Index row = 0; row < a.row_count; ++row) y[row] = 0; return; }" +
                             right_product;
    const Outcome cheats = Judged(late).judge("--json -");
    CHECK_MESSAGE(cheats.exit_code == 9, cheats.text);
    CHECK(cheats.text.find("\"verdict\":\"cheats\"") != std::string::npos);
    const Outcome crashes =
        Judged(right_product, "void* prepare(const Arrays& a) { return (void*)(long)a.values[a.values_size + 1]; }\n").judge();
    CHECK_MESSAGE(crashes.exit_code == 1, crashes.text);
    CHECK_MESSAGE(
        crashes.text.find("behind the end of values (element 1921 of 1920, counted from 0) (preparing)") != std::string::npos,
        crashes.text);
}

TEST_CASE("judge: a kernel reaches no file outside its folder") {
    const TemporaryFolder elsewhere;
    std::ofstream(elsewhere.path() / "secret") << "secret";
    const std::string reach = "static bool done = false; if (!done) { done = true; std::ofstream(\"" +
                              (elsewhere.path() / "written").string() + "\") << 1; if (std::ifstream(\"" +
                              (elsewhere.path() / "secret").string() + "\").good()) _exit(3); }" + right_product;
    const Outcome outcome = Judged(reach).judge("--no-page");
    const bool is_closed = outcome.text.find("  closed   network") != std::string::npos;
    CHECK_MESSAGE((is_closed || outcome.text.find("  open     ") != std::string::npos), outcome.text);
    if (!is_closed) return;  // this machine permits no namespaces, and the text says so
    CHECK_MESSAGE(outcome.exit_code == 0, outcome.text);
    CHECK(!std::filesystem::exists(elsewhere.path() / "written"));
}

TEST_CASE("a confined command reads the folders that it is given; it reads others if files are said to be open") {
    const std::optional<std::filesystem::path> program = find_beside_program("workbench_confined");
    REQUIRE(program);
    const TemporaryFolder given;
    const TemporaryFolder other;
    const std::string confined = "'" + program->string() + "' --read '" + given.path().string() + "'";
    const auto reads = [&](const TemporaryFolder& folder) {
        std::ofstream(folder.path() / "file") << "text";
        return shell(confined + " -- cat '" + (folder.path() / "file").string() + "' 2>&1").text == "text";
    };
    CHECK(reads(given));
    const Outcome said = shell(confined);
    CHECK(said.exit_code == 0);
    CHECK(reads(other) == (said.text.find("files") != std::string::npos));
}

TEST_CASE("judge: what is no kernel") {
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "kernel.txt") << "";
    std::ofstream(folder.path() / "broken.cpp") << "void multiply(";
    const Outcome text = workbench_in(folder.path(), "judge kernel.txt");
    CHECK(text.exit_code == 2);
    CHECK(text.text.find("kernel.txt: expected a kernel in a .cpp file, or in a .cu file for a GPU") != std::string::npos);
    CHECK(workbench_in(folder.path(), "judge none.cpp").exit_code == 2);
    const Outcome broken = workbench_in(folder.path(), "judge broken.cpp --generate laplace2d:nx=5");
    CHECK_MESSAGE(broken.exit_code == 2, broken.text);
    CHECK_MESSAGE(broken.text.find("broken.cpp:1:") != std::string::npos, broken.text);
}

}  // namespace workbench
