// The manual page, completions and installed recipes.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "cli/shell.hpp"
#include "support/golden.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

std::string output_of(const std::string& arguments) {
    const Outcome outcome = shell("'" WORKBENCH_BINARY "' " + arguments);
    CHECK_MESSAGE(outcome.exit_code == 0, arguments);
    return outcome.text;
}

std::set<std::string> matches(const std::string& text, const std::string& pattern) {
    std::set<std::string> found;
    const std::regex expression(pattern, std::regex::multiline);
    for (std::sregex_iterator match(text.begin(), text.end(), expression), end; match != end; ++match) {
        found.insert((*match)[1]);
    }
    return found;
}

const std::set<std::string>& commands() {
    static const std::set<std::string> all = matches(output_of("--help"), "^  ([a-z]+) ");
    return all;
}

std::set<std::string> options_of(const std::string& command) {
    const std::string help = output_of(command + " --help");
    std::set<std::string> options = matches(help, "^  (?:-[a-z],)?(--[a-z-]+)");
    options.merge(matches(help, "^  (-[a-z]),"));
    return options;
}

/// The text from `begin` to the next `end` or the end of the text; empty if `begin` is missing.
std::string between(const std::string& text, const std::string& begin, const std::string& end) {
    const std::size_t first = text.find(begin);
    if (first == std::string::npos) return "";
    const std::size_t last = text.find(end, first + begin.size());
    return text.substr(first, last == std::string::npos ? last : last - first);
}

/// The completions that bash offers for the last of these words.
std::string completed(const std::string& words) {
    const Outcome outcome =
        shell("bash -c 'source <(\"" WORKBENCH_BINARY "\" completion bash); COMP_WORDS=(workbench " + words +
              "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _workbench \"" WORKBENCH_BINARY "\"; echo \"${COMPREPLY[*]}\"'");
    return outcome.text;
}

}  // namespace

TEST_CASE("the beginning of the manual page") {
    const std::string page = output_of("manual");
    const std::string head = page.substr(0, page.find(".SS serve"));
    compare_with_golden(project / "tests/golden/cli/manual.1",
                        std::regex_replace(head, std::regex(R"("\d+\.\d+\.\d+")"), "\"0.0.0\""));
}

TEST_CASE("the manual page has all sections, none of which is empty, and each exit code") {
    const std::string page = output_of("manual") + ".SH";
    for (const std::string section : {"NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "EXIT STATUS", "FILES"}) {
        CHECK_MESSAGE(between(page, ".SH " + section + "\n", ".SH").size() > section.size() + 30, section);
    }
    CHECK(matches(between(page, ".SH EXIT STATUS\n", ".SH"), R"(^(\d+)$)") ==
          std::set<std::string>{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "70", "130"});
}

TEST_CASE("the manual page and the completions contain every command and option") {
    REQUIRE(commands().size() >= 10);
    const std::string page = replaced(output_of("manual"), "\\-", "-") + ".SH";
    const std::string offered = output_of("complete ''");
    for (const std::string& command : commands()) {
        CAPTURE(command);
        CHECK(("\n" + offered).find("\n" + command + "\t") != std::string::npos);
        const std::string section = between(page, ".SS " + command + "\n", "\n.S");
        const std::string offered_options = "\n" + output_of("complete " + command + " -");
        const std::set<std::string> options = options_of(command);
        CHECK(options.count("--help") == 1);
        for (const std::string& option : options) {
            CAPTURE(option);
            CHECK(std::regex_search(section, std::regex("\n..B(-[a-z],)?" + option + "[,\\\\]")));
            CHECK(offered_options.find("\n" + option + "\t") != std::string::npos);
        }
    }
}

TEST_CASE("the program completes commands, options and values") {
    CHECK(output_of("complete run -").find("\n--precision\tf32, f64 or both\n") != std::string::npos);
    CHECK(output_of("complete --ver") == "--version\tDisplay program version information and exit\n");
    CHECK(output_of("complete run x.toml --cache ''") == "cold\t\nwarm\t\n");
    CHECK(output_of("complete run --precision=b") == "--precision=both\t\n");
    CHECK(output_of("complete run --backend=kokkos,cud") == "--backend=kokkos,cuda\t\n");
    CHECK(output_of("complete list sta") == "stages\t\n");
    // Files follow.
    for (const char* words : {"run rec", "run --matrix f", "run --out ''", "unknown ''", "run --json=f"}) {
        CHECK_MESSAGE(output_of(std::string("complete ") + words).empty(), words);
    }
}

TEST_CASE("bash completes commands, options and values") {
    CHECK(shell("'" WORKBENCH_BINARY "' completion bash | bash -n 2>&1").text.empty());
    CHECK(completed("ru") == "run\n");
    CHECK(completed("run --prec") == "--precision\n");
    CHECK(completed("run --precision = b") == "both\n");
    CHECK(completed("run --precision =") == "f32 f64 both\n");
    CHECK(completed("run --backend kokkos,cu") == "kokkos,cuda kokkos,cusparse\n");
    CHECK(completed("completion \"\"") == "bash zsh fish\n");
    CHECK(completed("run rec") == "\n");
    CHECK(shell("'" WORKBENCH_BINARY "' completion csh 2>&1").exit_code == 2);
}

TEST_CASE("an installed program finds its recipes in any folder") {
    const TemporaryFolder folder;
    const std::filesystem::path& prefix = folder.path();
    std::filesystem::create_directories(prefix / "bin");
    std::filesystem::create_directories(prefix / "share/spmv-workbench/recipes");
    std::filesystem::create_directories(prefix / "elsewhere/recipes");
    std::filesystem::copy(WORKBENCH_BINARY, prefix / "bin/workbench");
    std::filesystem::copy(project / "recipes/csr.toml", prefix / "share/spmv-workbench/recipes/csr.toml");
    const auto check = [&](const std::string& recipe) {
        return shell("cd '" + (prefix / "elsewhere").string() + "' && ../bin/workbench check " + recipe + " 2>&1");
    };
    CHECK(check("recipes/csr.toml").text == "recipes/csr.toml: ok: csr\n");
    CHECK(check("recipes/none.toml").text == "error: recipes/none.toml: no such file; expected a recipe\n");
    const Outcome chosen = shell("cd '" + (prefix / "elsewhere").string() +
                                 "' && ../bin/workbench choose --generate laplace2d:nx=3 --budget 0.1 --json - -o w.toml");
    CHECK(chosen.exit_code == 0);
    CHECK(chosen.text.find("\"answer\": \"") != std::string::npos);
    // In its build tree it finds those of the sources; without any it says so.
    const Outcome built = shell("cd '" + prefix.string() + "' && '" WORKBENCH_BINARY "' check recipes/csr.toml 2>&1");
    CHECK(built.text == "recipes/csr.toml: ok: csr\n");
    std::filesystem::create_directories(prefix / "alone/bin");
    std::filesystem::copy(WORKBENCH_BINARY, prefix / "alone/bin/workbench");
    const Outcome alone = shell("cd '" + prefix.string() + "' && alone/bin/workbench choose --generate laplace2d:nx=3 2>&1");
    CHECK(alone.text ==
          "error: no recipes are installed, and the current folder has no recipes/; name the recipes to choose from\n");
    // A file in the current folder takes precedence.
    std::ofstream(prefix / "elsewhere/recipes/csr.toml") << "[layout]\nuse = \"sell\"\n";
    CHECK(check("recipes/csr.toml").text == "recipes/csr.toml: ok: sell\n");
}

TEST_CASE("CITATION.cff, CHANGELOG.md and the header of the library name the version of the program") {
    const std::string version = output_of("--version");  // workbench 0.1.0 (...)
    const std::string number = version.substr(10, version.find(" (") - 10);
    CHECK(("\n" + file_text(project / "CITATION.cff")).find("\nversion: " + number + "\n") != std::string::npos);
    CHECK(file_text(project / "CHANGELOG.md").find("\n## " + number) != std::string::npos);
    const std::string header = file_text(project / "frontends/library/include/spmv_workbench/spmv_workbench.hpp");
    std::string of_header;
    for (const char* part : {"MAJOR", "MINOR", "PATCH"}) {
        const std::set<std::string> numbers =
            matches(header, std::string("^#define SPMV_WORKBENCH_VERSION_") + part + " (\\d+)$");
        REQUIRE(numbers.size() == 1);
        of_header += (of_header.empty() ? "" : ".") + *numbers.begin();
    }
    CHECK(of_header == number);
}

}  // namespace workbench
