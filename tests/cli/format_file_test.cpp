// A format in one file: in recipes, hybrids, explain and reports, and the errors of recipes that name one.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include "cli/shell.hpp"
#include "support/golden.hpp"
#include "support/slow.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

const std::string mistakes_file = (project / "tests/kernels/formats/mistakes.hpp").string();

/// Writes a recipe, and returns what a command says of it without the path of the project.
Outcome with_recipe(const std::string& command, const std::string& recipe, const std::string& options = "") {
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "mine.toml") << "[matrix]\ngenerate = 'laplace2d'\nnx = 4\n" << recipe;
    Outcome outcome = workbench_in(folder.path(), command + " mine.toml " + options, "WORKBENCH_TRIAL_SECONDS=2");
    outcome.text = replaced(replaced(outcome.text, project.string() + "/", ""), folder.path().string() + "/", "");
    return outcome;
}

const std::string layout_of_mistakes = "[layout]\nsource = '" + mistakes_file + "'\n";
const std::string once = "--backend kokkos --samples 1 --seconds 0 --cache warm --no-pictures";

}  // namespace

TEST_CASE("a recipe with a format in one file runs like any other" * doctest::test_suite(slow)) {
    const TemporaryFolder folder;
    const std::string out = folder.path().string();
    const Outcome outcome = run("run recipes/teaching/my_csr16.toml " + once + " --precision both --out " + out);
    CHECK(outcome.exit_code == 0);
    const nlohmann::json report = json_in(folder.path() / "my_csr16" / "report.json");
    int measured = 0;
    for (const auto& kernel : report["kernels"]) measured += kernel["layout"] == "my_csr16" && kernel["status"] == "measured";
    CHECK(measured == 2);
    const std::string resolved = report["recipe"]["resolved"];
    CHECK(resolved.find("source = \"" + (project / "recipes/teaching/my_csr16.hpp").string() + "\"") != std::string::npos);
    // The resolved recipe runs again.
    std::ofstream(folder.path() / "again.toml") << resolved;
    CHECK(run("check " + out + "/again.toml").exit_code == 0);
}

TEST_CASE("a share of a hybrid can be stored in a format in one file" * doctest::test_suite(slow)) {
    const Outcome outcome = with_recipe("run",
                                        "[[stage]]\nuse = 'split'\nby = 'first_k'\nk = 2\n"
                                        "[[layout]]\nshare = 'first'\nsource = '" +
                                            mistakes_file + "'\n[[layout]]\nshare = 'rest'\nuse = 'csr'\n",
                                        once);
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.text.find("mistakes + csr") != std::string::npos);
}

TEST_CASE("explain describes a format in one file, and prints the header of its arrays" * doctest::test_suite(slow)) {
    const Outcome explained = run("explain recipes/teaching/sell8.hpp");
    CHECK(explained.exit_code == 0);
    compare_with_stored("explain_format", replaced(explained.text, project.string() + "/", ""));
    const Outcome header = run("explain recipes/teaching/sell8.hpp --header");
    CHECK(header.exit_code == 0);
    CHECK(header.text.find("const unsigned char* column_offsets;") != std::string::npos);
}

TEST_CASE("errors of recipes that name a format in one file" * doctest::test_suite(slow)) {
    std::string text;
    const auto add = [&](const std::string& recipe, const std::string& options = "") {
        const Outcome outcome = with_recipe("check", recipe, options);
        CHECK(outcome.exit_code == 2);
        text += outcome.text;
    };
    add("[layout]\nuse = 'csr'\nsource = '" + mistakes_file + "'\n");
    add("[layout]\nsource = 3\n");
    add("[layout]\nsource = 'absent.hpp'\n");
    add("[layout]\nsource = '" + (project / "kernels/csr16/layout.hpp").string() + "'\n");
    add(layout_of_mistakes + "height = 8\n");
    add(layout_of_mistakes + "mistake = 31\n");
    add(layout_of_mistakes, "--set layout.mistake=many");
    compare_with_stored("format_errors", text);
}

TEST_CASE("a format that fails on the recipe's matrix is a wrong result" * doctest::test_suite(slow)) {
    const Outcome throws = with_recipe("run", layout_of_mistakes + "mistake = 4\n", once);
    CHECK(throws.exit_code == 1);
    CHECK(throws.text.find("mistakes.hpp: building (f64): no such luck") != std::string::npos);
    const Outcome counted = with_recipe("cache", layout_of_mistakes + "mistake = 1\n");
    CHECK(counted.exit_code == 1);
    CHECK(counted.text == "error: tests/kernels/formats/mistakes.hpp: building (f64): it ends with a signal: Aborted\n");
    const Outcome refused = with_recipe("run", layout_of_mistakes + "mistake = 11\n", once);
    CHECK(refused.text.find("11 is too many") != std::string::npos);
}

}  // namespace workbench
