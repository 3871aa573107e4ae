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
    const Outcome outcome = workbench_in(folder.path(), "run " + (project / "recipes/teaching/my_csr16.toml").string() + " " +
                                                            once + " --precision both --out " + out);
    CHECK(outcome.exit_code == 0);
    const nlohmann::json report = json_in(folder.path() / "my_csr16" / "report.json");
    int measured = 0;
    for (const auto& kernel : report["kernels"]) measured += kernel["layout"] == "my_csr16" && kernel["status"] == "measured";
    CHECK(measured == 2);
    const std::string resolved = report["recipe"]["resolved"];
    CHECK(resolved.find("/recipes/teaching/my_csr16.hpp\"") != std::string::npos);
    // The resolved recipe runs again.
    std::ofstream(folder.path() / "again.toml") << resolved;
    CHECK(run("check " + out + "/again.toml").exit_code == 0);
}

TEST_CASE("new writes the start of a format, which runs" * doctest::test_suite(slow)) {
    const TemporaryFolder folder;
    const Outcome written = workbench_in(folder.path(), "new format my_first_format");
    CHECK(written.exit_code == 0);
    CHECK(written.text ==
          "written to my_first_format: my_first_format.hpp, my_first_format.toml, my_first_format.mtx\n"
          "workbench run my_first_format/my_first_format.toml compiles it and runs it.\n");
    const Outcome outcome = workbench_in(folder.path(), "run my_first_format/my_first_format.toml " + once);
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.text.find("my_first_format f64: built in") != std::string::npos);
    const auto header = folder.path() / "my_first_format" / "my_first_format.hpp";
    std::ofstream(header, std::ios::app) << "// changed\n";
    CHECK(workbench_in(folder.path(), "new format my_columns --loop").exit_code == 0);
    const Outcome columns =
        workbench_in(folder.path(), "run my_columns/my_columns.toml --backend kokkos --samples 1 --seconds 0 --no-pictures");
    CHECK_MESSAGE(columns.exit_code == 0, columns.text);
    CHECK(columns.text.find("my_columns  columns") != std::string::npos);
    CHECK(workbench_in(folder.path(), "new stage my_order --loop").text ==
          "error: --loop: expected with a format; a stage is a function\n");
    const Outcome again = workbench_in(folder.path(), "new format my_first_format");
    CHECK(again.exit_code == 2);  // nothing that somebody has changed is replaced
    CHECK(file_text(header).ends_with("// changed\n"));
    CHECK(workbench_in(folder.path(), "new format csr").text ==
          "error: name: the program has a layout 'csr'; expected another name\n");
}

TEST_CASE("check says which code a recipe brings, and --no-sources refuses it before it is compiled" *
          doctest::test_suite(slow)) {
    const Outcome checked = with_recipe("check", layout_of_mistakes, "--sources");
    CHECK(checked.exit_code == 0);
    CHECK(checked.text.find("was not compiled") == std::string::npos);
    CHECK(checked.text.find("brings code: layout 'mistakes': source tests/kernels/formats/mistakes.hpp (mine.toml:5)") !=
          std::string::npos);
    const Outcome refused = with_recipe("check", layout_of_mistakes, "--no-sources");
    CHECK(refused.exit_code == 2);
    CHECK(refused.text.find("found code beside the recipe; expected none, because of --no-sources") != std::string::npos);
}

TEST_CASE("check compiles and loads nothing without --sources") {
    const TemporaryFolder folder;
    const fs::path written = folder.path() / "written";
    std::ofstream(folder.path() / "writes.hpp") << "#include <fstream>\n"
                                                << "static const bool initialised = [] {\n"
                                                << "    std::ofstream(\"" << written.string() << "\") << 1;\n"
                                                << "    return true;\n}();\n";
    std::ofstream(folder.path() / "writes.toml") << "[layout]\nsource = 'writes.hpp'\nheight = 8\n";
    const Outcome checked = workbench_in(folder.path(), "check writes.toml");
    CHECK(checked.exit_code == 0);
    CHECK(replaced(checked.text, folder.path().string() + "/", "") ==
          "writes.toml: ok: writes\n"
          "  brings code: layout 'writes': source writes.hpp (writes.toml:2)\n"
          "  note: layout 'writes' was not compiled, so that its parameters, kernels and needs were not checked; "
          "--sources compiles and loads it\n");
    CHECK_FALSE(fs::exists(written));
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
        const Outcome outcome = with_recipe("check", recipe, "--sources " + options);
        CHECK(outcome.exit_code == 2);
        text += outcome.text;
    };
    add("[layout]\nuse = 'csr'\nsource = '" + mistakes_file + "'\n");
    add("[layout]\nsource = 3\n");
    add("[layout]\nsource = 'absent.hpp'\n");
    add("[layout]\nsource = '" + (project / "kernels/formats/dia/layout.hpp").string() + "'\n");
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
