// workbench solve. Texts are compared with tests/golden/cli, with times and derived figures masked.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "cli/shell.hpp"
#include "support/golden.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

/// Runs solve in the project's folder; "OUT" stands for the test's folder in arguments and texts.
Outcome solve_in(const fs::path& folder, const std::string& arguments) {
    Outcome outcome = shell("cd '" + project.string() + "' && timeout 60 '" WORKBENCH_BINARY "' solve " +
                            replaced(arguments, "OUT", folder.string()) + " 2>&1");
    outcome.text = replaced(outcome.text, folder.string(), "OUT");
    return outcome;
}

/// For errors before the solve, whose texts do not depend on the machine.
void expect_solve(const std::string& name, const fs::path& folder, const std::string& arguments, int exit_code) {
    CAPTURE(arguments);
    const Outcome outcome = solve_in(folder, arguments);
    CHECK(outcome.exit_code == exit_code);
    compare_with_stored(name, outcome.text);
}

/// Joins wrapped lines between two positions, as the lengths of device and folder names vary.
std::string joined(const std::string& text, std::size_t from, std::size_t to) {
    if (from == std::string::npos) return text;
    const std::string part = text.substr(from, to == std::string::npos ? to : to - from);
    return text.substr(0, from) + std::regex_replace(part, std::regex("\n +"), " ") +
           (to == std::string::npos ? "" : text.substr(to));
}

/// Masks the device, times, ratios of times and rounding.
std::string masked(std::string text) {
    text = joined(text, text.find('\n') + 1, text.find("\n\n"));
    text = joined(text, text.find("Written to"), std::string::npos);
    text = std::regex_replace(text, std::regex("  warning: [^\n]*\n(      [^\n]*\n)*"), "");
    text = std::regex_replace(text, std::regex("\n\n\n"), "\n\n");
    text = std::regex_replace(text, std::regex(", on [^;]*;"), ", on DEVICE;");
    text = std::regex_replace(text, std::regex(R"((\n[^\n]+ x\s+as\s+fast\s+as\s+the\s+baseline[^]*?)(?=\n\n))"), "\nVERDICTS");
    // This line is printed if solving one at a time takes less time, which depends on the machine.
    text = std::regex_replace(text, std::regex(R"(\n[^\n]+:\s+\d+\s+right-hand\s+sides\s+take[^\n]*(\n      [^\n]+)*)"), "");
    text = std::regex_replace(
        text,
        std::regex(R"((Least time in all|No advice): [^\n]+(\n      [^\n]+)*(\nWith new values[^\n]+(\n      [^\n]+)*)?)"),
        "Least time in all: RECIPES");
    text = std::regex_replace(text, std::regex(R"(\d[\d.,]* (us|ms|s)\b)"), "# s");
    text = std::regex_replace(text, std::regex(R"(\d\.\d+e[+-]\d+)"), "#");
    // The baseline is Eigen's kernel or the workbench's own.
    text = std::regex_replace(
        text, std::regex("Eigen CSR|\\bthe baseline(?=: (iteration limit|indefinite|stagnated|breakdown))"), "CSR");
    text = std::regex_replace(text, std::regex(R"(\n  (CSR \*|tuned) +(eigen|rows) )"), "\n  $1  KERNEL  ");
    // The columns "of parts" and "break-even".
    text = std::regex_replace(text, std::regex(R"(# s +(\d[\d.]*|-)  )"), "# s  #  ");
    text = std::regex_replace(text, std::regex(R"(# s +(never|at once|noise|~?\d[\d,]*)\n)"), "# s  #\n");
    // Lines are broken elsewhere after another name of the baseline.
    text = std::regex_replace(text, std::regex(R"(\n {6}(?=\S))"), " ");
    return std::regex_replace(text, std::regex(R"((\S) {2,})"), "$1  ");
}

std::string without_numbers(const std::string& text) {
    return std::regex_replace(masked(text), std::regex(R"(\b\d[\d,]*(\.\d+)?(e[+-]\d+)?\b)"), "#");
}

void write(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }

void collect_keys(const nlohmann::json& json, std::set<std::string>& keys) {
    for (const auto& [key, value] : json.items()) {
        if (key == "machine" || key == "versions") continue;
        if (json.is_object()) keys.insert(key);
        if (value.is_structured()) collect_keys(value, keys);
    }
}

/// On a CPU, which every machine has.
const std::string on_host_to_out = " --backend kokkos --out OUT/solved ";
const std::string small = " --generate laplace2d:nx=3 ";
const std::string csr = "recipes/csr.toml ";
const std::string indefinite = "[matrix]\nrows = ['1 .', '. -1']\n[layout]\nuse = 'csr'\n";
const std::string skew = "[matrix]\nrows = ['. 1', '-1 .']\n[layout]\nuse = 'csr'\n";

}  // namespace

TEST_SUITE("solve with the program") {
    TEST_CASE("help and errors before the work") {
        const TemporaryFolder folder;
        const fs::path& out = folder.path();
        expect_solve("help_solve", out, "--help", 0);
        expect_solve("solve_no_recipe", out, small + on_host_to_out, 2);
        expect_solve("solve_tune_without_recipes", out, "--tune --generate laplace2d:nx=4" + on_host_to_out, 2);
        expect_solve("solve_no_such_recipe", out, "none.toml --tune recipes/csr.toml" + on_host_to_out, 2);
        expect_solve("solve_two_matrices", out, csr + "recipes/teaching/small_inline.toml" + on_host_to_out, 2);
        expect_solve("solve_sweep_of_matrices", out, csr + small + "--sweep matrix.nx=3,4" + on_host_to_out, 2);
        expect_solve("solve_no_matrix", out, csr + "--matrix none.mtx" + on_host_to_out, 3);
        expect_solve("solve_not_square", out, csr + "--matrix tests/golden/cli/wide.mtx" + on_host_to_out, 3);
        expect_solve("solve_no_rhs", out, csr + small + "--rhs randm" + on_host_to_out, 3);
        expect_solve("solve_rhs_of_wrong_size", out, csr + small + "--rhs tests/golden/cli/wide.mtx" + on_host_to_out, 3);
        expect_solve("solve_two_devices", out, csr + small + "--backend kokkos,cuda --out OUT/solved", 2);
        expect_solve("solve_tolerance_nan", out, csr + small + "--tolerance nan" + on_host_to_out, 2);
        expect_solve("solve_tolerance_large", out, csr + small + "--tolerance 2" + on_host_to_out, 2);
        expect_solve("solve_no_iterations", out, csr + small + "--iterations 0" + on_host_to_out, 2);
        expect_solve("solve_unknown_method", out, csr + small + "--method gmres" + on_host_to_out, 2);
        expect_solve("solve_unknown_engine", out, csr + small + "--engine fast" + on_host_to_out, 2);
        const Outcome on_host = solve_in(out, csr + small + "--engine persistent" + on_host_to_out);
        CHECK(on_host.exit_code == 4);
        CHECK(on_host.text.rfind("error: --engine persistent needs a GPU; these solves run on ", 0) == 0);
        expect_solve("solve_no_right_sides", out, csr + small + "--right-sides 65" + on_host_to_out, 2);
        expect_solve("solve_right_sides_bicgstab", out, csr + small + "--right-sides 2 --method bicgstab" + on_host_to_out, 2);
        expect_solve("solve_right_sides_persistent", out, csr + small + "--right-sides 2 --engine persistent" + on_host_to_out,
                     2);
        expect_solve("solve_right_sides_tuned", out, csr + small + "--right-sides 2 --tune recipes/sell.toml" + on_host_to_out,
                     2);
        expect_solve("solve_right_sides_distributed", out, csr + small + "--right-sides 2 --distributed" + on_host_to_out, 2);
        write(out / "two.mtx",
              "%%MatrixMarket matrix array real general\n9 2" + replaced(std::string(18, '+'), "+", "\n1") + "\n");
        expect_solve("solve_few_columns", out, csr + small + "--right-sides 3 --rhs OUT/two.mtx" + on_host_to_out, 3);
        expect_solve("solve_unknown_preconditioner", out, csr + small + "--preconditioner ilu" + on_host_to_out, 2);
        expect_solve("solve_both_precisions", out, csr + small + "--precision both" + on_host_to_out, 2);
        write(out / "taken", "a file");
        expect_solve("solve_out_not_writable", out, csr + "--matrix none.mtx --out OUT/taken", 4);
        expect_solve("solve_json_not_writable", out, csr + "--matrix none.mtx --json OUT/taken/all.json" + on_host_to_out, 4);
        write(out / "nan.mtx", "%%MatrixMarket matrix array real general\n9 1\n1\n1\n1\n1\nnan\n1\n1\n1\n1\n");
        const Outcome not_finite = solve_in(out, csr + small + "--rhs OUT/nan.mtx" + on_host_to_out);
        CHECK(not_finite.exit_code == 3);
        write(out / "tiny.mtx", "%%MatrixMarket matrix array real general\n9 1\n0\n0\n0\n0\n1e-170\n0\n0\n0\n0\n");
        expect_solve("solve_rhs_below_range", out, csr + small + "--rhs OUT/tiny.mtx" + on_host_to_out, 3);
        expect_solve("solve_rhs_below_range", out, csr + small + "--rhs OUT/tiny.mtx --method bicgstab" + on_host_to_out, 3);
        CHECK_FALSE(fs::exists(out / "solved"));
    }

    TEST_CASE("without a GPU, --backend cuda is an error") {
        const TemporaryFolder folder;
        const Outcome outcome = solve_in(folder.path(), csr + small + "--backend cuda --out OUT/solved");
        if (outcome.exit_code == 0) {
            MESSAGE("skipped: this machine has a GPU");
            return;
        }
        CHECK(outcome.exit_code == 4);
        CHECK(outcome.text.rfind("error: --backend cuda: ", 0) == 0);
        CHECK_FALSE(fs::exists(folder.path() / "solved"));
    }

    TEST_CASE("a solve, its files, and their documentation") {
        const TemporaryFolder folder;
        const Outcome outcome =
            solve_in(folder.path(), "recipes/sell.toml --tune " + csr + small + "--json OUT/copy.json" + on_host_to_out);
        CHECK(outcome.exit_code == 0);
        compare_with_stored("solve", masked(outcome.text));
        const fs::path solved = folder.path() / "solved";
        for (const char* name : {"residual_by_iteration", "residual_by_time", "time_by_solves"}) {
            CHECK(file_text(solved / (std::string(name) + ".png")).rfind("\x89PNG", 0) == 0);
            CHECK(file_text(solved / (std::string(name) + ".svg")).find("Sliced ELL") != std::string::npos);
        }
        CHECK(file_text(solved / "residuals.csv").find("CSR\",\"Sliced ELL\",\"tuned\"\n0,1.000000e+00,") < 20);
        const auto json = json_in(solved / "solve.json");
        CHECK(json == json_in(folder.path() / "copy.json"));
        REQUIRE(json["solves"].size() == 3);
        CHECK(json["solves"][0]["baseline"] == true);
        CHECK(json["solves"][1]["iterations"] == 3);
        CHECK(json["solves"][1]["residuals"].size() == 4);
        CHECK(json["solves"][1]["true_residual"] < 1e-12);
        CHECK(json["solves"][2]["tuned"] == true);
        CHECK(json["solves"][2]["trials"][0]["recipe"] == "CSR");

        const std::string description = file_text(project / "docs" / "solve.md");
        std::set<std::string> keys;
        collect_keys(json, keys);
        for (const std::string& key : keys) CHECK_MESSAGE(description.find(key + '`') != std::string::npos, key);
    }

    TEST_CASE("a solve for several right-hand sides, and its documentation") {
        const TemporaryFolder folder;
        const Outcome outcome =
            solve_in(folder.path(), "recipes/rcm_sell.toml " + csr + small + "--right-sides 3" + on_host_to_out);
        CHECK(outcome.exit_code == 0);
        compare_with_stored("solve_right_sides", masked(outcome.text));
        const auto json = json_in(folder.path() / "solved" / "solve.json");
        CHECK(json["right_sides"] == 3);
        CHECK(json["right_hand_side"] == "ones, random (seeds 1 to 2)");
        REQUIRE(json["solves"].size() == 3);
        for (const auto& one : json["solves"]) {
            REQUIRE(one["right_sides"].size() == 3);
            CHECK(one["right_sides"][0]["iterations"] == 3);
            CHECK(one["end"] == "converged");
        }
        const std::string description = file_text(project / "docs" / "solve.md");
        std::set<std::string> keys;
        collect_keys(json, keys);
        for (const std::string& key : keys) CHECK_MESSAGE(description.find(key + '`') != std::string::npos, key);
        CHECK(file_text(folder.path() / "solved" / "residual_by_time.svg").find("3 right-hand sides together") !=
              std::string::npos);
    }

    TEST_CASE("--json - prints JSON only") {
        const TemporaryFolder folder;
        const Outcome outcome = solve_in(folder.path(), csr + small + "--json -" + on_host_to_out);
        CHECK(outcome.exit_code == 0);
        CHECK(nlohmann::json::parse(outcome.text) == json_in(folder.path() / "solved" / "solve.json"));
    }

    TEST_CASE("recipes of one name have rows of their own, and a recipe is named once") {
        const TemporaryFolder folder;
        write(folder.path() / "one.toml", "[recipe]\nname = 'Same'\n[layout]\nuse = 'csr'\n");
        write(folder.path() / "two.toml", "[recipe]\nname = 'Same'\n[layout]\nuse = 'sell'\n");
        const Outcome outcome = solve_in(folder.path(), "OUT/one.toml OUT/two.toml" + small + on_host_to_out);
        CHECK(outcome.exit_code == 0);
        const auto json = json_in(folder.path() / "solved" / "solve.json");
        CHECK(json["solves"][1]["recipe"] == "Same (one.toml)");
        CHECK(json["solves"][2]["recipe"] == "Same (two.toml)");
        const Outcome twice = solve_in(folder.path(), csr + csr + small + on_host_to_out);
        CHECK(twice.exit_code == 2);
        CHECK(twice.text == "error: recipes/csr.toml: this recipe is named twice; expected it once\n");
    }

    TEST_CASE("points of a sweep have distinct names") {
        const TemporaryFolder folder;
        const Outcome outcome = solve_in(
            folder.path(), "recipes/sell.toml --sweep layout.slice_height=1,2 --rhs random --seed 3" + small + on_host_to_out);
        CHECK(outcome.exit_code == 0);
        CHECK(file_text(folder.path() / "solved" / "residuals.csv")
                  .find("CSR\",\"Sliced ELL: slice_height=1\",\"Sliced ELL: slice_height=2\"\n") < 20);
        CHECK(json_in(folder.path() / "solved" / "solve.json")["right_hand_side"] == "random (seed 3)");
    }

    TEST_CASE("each way to end has an exit code and a reason") {
        const TemporaryFolder folder;
        const fs::path& out = folder.path();
        write(out / "indefinite.toml", indefinite);
        write(out / "skew.toml", skew);
        const auto expect_end = [&](const std::string& name, const std::string& arguments, int exit_code) {
            CAPTURE(arguments);
            const Outcome outcome = solve_in(out, arguments + on_host_to_out);
            CHECK(outcome.exit_code == exit_code);
            compare_with_stored(name, masked(outcome.text));
            const auto json = json_in(out / "solved" / "solve.json");
            for (const auto& one : json["solves"]) CHECK(one["reason"] != "");
            return json["solves"][0]["end"].get<std::string>();
        };
        CHECK(expect_end("solve_iteration_limit", csr + "--iterations 3 --generate laplace2d:nx=20", 5) == "iteration limit");
        CHECK(expect_end("solve_indefinite", "OUT/indefinite.toml --rhs random", 7) == "indefinite");
        CHECK(expect_end("solve_breakdown", "OUT/skew.toml --method bicgstab", 8) == "breakdown");
        const Outcome stagnated =
            solve_in(out, csr + "--generate laplace2d:nx=60 --precision f32 --tolerance 1e-12" + on_host_to_out);
        CHECK(stagnated.exit_code == 6);
        compare_with_stored("solve_stagnated", without_numbers(stagnated.text));
        CHECK(solve_in(out, "OUT/indefinite.toml --method bicgstab --rhs random" + on_host_to_out).exit_code == 0);
    }

    TEST_CASE("options of solve") {
        const TemporaryFolder folder;
        write(folder.path() / "b.mtx", "%%MatrixMarket matrix array real general\n9 1\n1\n2\n3\n4\n5\n6\n7\n8\n9\n");
        const auto solved = [&](const std::string& arguments) {
            (void)solve_in(folder.path(), csr + arguments + on_host_to_out);
            return json_in(folder.path() / "solved" / "solve.json");
        };
        const auto usual = solved(small + "--rhs random");
        CHECK(usual["method"] == "cg");
        CHECK(usual["tolerance"] == 1e-8);
        CHECK(usual["precision"] == "f64");
        CHECK(usual["solves"][1]["residuals"] != solved(small + "--rhs random --seed 2")["solves"][1]["residuals"]);
        CHECK(usual["solves"][1]["iterations"] > solved(small + "--rhs random --tolerance 0.5")["solves"][1]["iterations"]);
        CHECK(solved(small + "--precision f32 --solves 1")["tolerance"] == 1e-4);
        const auto other = solved(small + "--rhs OUT/b.mtx --method bicgstab --preconditioner jacobi");
        CHECK(other["right_hand_side"] == "b.mtx");
        write(folder.path() / "b.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
        const auto listed = solved(small + "--rhs OUT/b.txt --method bicgstab --preconditioner jacobi --iterations 1e3");
        CHECK(listed["solves"][1]["residuals"] == other["solves"][1]["residuals"]);
        CHECK(other["method"] == "bicgstab");
        CHECK(other["preconditioner"] == "jacobi");
        CHECK(other["solves"][1]["end"] == "converged");
        CHECK(other["solves"][1]["products"] == 2 * other["solves"][1]["iterations"].get<int>());
        CHECK(other["solves"][1]["vector_bytes"] == 23 * 9 * 8);
        // The residual rises before it falls.
        const auto impatient = solved("--matrix recipes/matrices/elasticity3d.mtx.gz --patience 5");
        CHECK(impatient["patience"] == 5);
        CHECK(impatient["solves"][1]["end"] == "stagnated");
        CHECK(impatient["solves"][1]["iterations"] == 10);
    }

    TEST_CASE("kept results are reused by solve and run") {
        const TemporaryFolder folder;
        const std::string arguments = "recipes/rcm_sell.toml " + small + on_host_to_out + " --keep OUT/kept";
        CHECK(solve_in(folder.path(), arguments).exit_code == 0);
        const auto first = json_in(folder.path() / "solved" / "solve.json")["solves"][1];
        CHECK(solve_in(folder.path(), arguments).exit_code == 0);
        const auto second = json_in(folder.path() / "solved" / "solve.json")["solves"][1];
        CHECK(second["build_seconds"] == first["build_seconds"]);
        CHECK(second["residuals"] == first["residuals"]);
        const std::string note = second["notes"].back();
        CHECK(note.find("kept by an earlier run: ") == 0);
        const Outcome run =
            shell("cd '" + std::string(WORKBENCH_SOURCE_DIR) + "' && '" WORKBENCH_BINARY "' run recipes/rcm_sell.toml" + small +
                  "--no-pictures --samples 5 --seconds 0 --backend kokkos --keep '" + (folder.path() / "kept").string() +
                  "' --out '" + folder.path().string() + "'");
        CHECK(run.text.find("note: kept by an earlier run: ") != std::string::npos);
    }

    TEST_CASE("an unsuitable recipe does not stop the others") {
        const TemporaryFolder folder;
        const Outcome outcome =
            solve_in(folder.path(), "tests/layouts/hbp_rows_sorted.toml " + csr +
                                        "--set 'stage.row_sort.share=\"tile 1,1\"' --generate laplace2d:nx=2" + on_host_to_out);
        CHECK(outcome.exit_code == 3);
        compare_with_stored("solve_unsuitable", masked(outcome.text));
        const auto json = json_in(folder.path() / "solved" / "solve.json");
        CHECK(json["solves"].size() == 2);
        CHECK(json["errors"].size() == 1);
        CHECK(json["errors"][0]["exit_code"] == 3);
    }

    TEST_CASE("an unknown --only leaves the baseline") {
        const TemporaryFolder folder;
        const Outcome outcome = solve_in(folder.path(), csr + small + "--only slices" + on_host_to_out);
        CHECK(outcome.exit_code == 2);
        CHECK(outcome.text.find("no kernel of layout 'csr' runs with these options") != std::string::npos);
        CHECK(json_in(folder.path() / "solved" / "solve.json")["solves"].size() == 1);
    }

    TEST_CASE("a matrix that no recipe suits is an error") {
        const TemporaryFolder folder;
        write(folder.path() / "huge.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1e300\n");
        const Outcome outcome = solve_in(folder.path(), csr + "--matrix OUT/huge.mtx --precision f32" + on_host_to_out);
        CHECK(outcome.exit_code == 3);
        CHECK(outcome.text.find("are finite in f64 but not in f32") != std::string::npos);
    }
}

}  // namespace workbench
