// Recipes with errors: the exact text of each.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "pipeline/recipe/space.hpp"
#include "recipe/recipes.hpp"
#include "support/golden.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

/// The options in the first lines of a golden recipe, such as "# --set layout.x=1".
RecipeChanges options_of(const std::string& text) {
    RecipeChanges options;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line) && line.starts_with("# --");) {
        const std::size_t end = line.find(' ', 4);
        const std::string option = line.substr(4, end - 4);
        const std::string value = line.substr(end + 1);
        if (option == "matrix") options.matrix = value;
        if (option == "member") options.member = value;
        if (option == "generate") options.generate = value;
        if (option == "set") options.overrides.push_back(value);
        if (option == "sweep") options.sweeps.push_back(value);
    }
    return options;
}

/// Compares the errors of each file in the folder, which `load` throws, with the text beside it. Returns the number of files.
int compare_errors(const fs::path& folder,
                   const std::function<void(const std::string& text, const fs::path& file, const RecipeChanges&)>& load) {
    const fs::path before = fs::current_path();
    fs::current_path(folder);  // contains the recipes that others extend
    int compared = 0;
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.path().extension() != ".toml") continue;
        const std::string text = file_text(entry.path());
        fs::path expected = entry.path();
        expected.replace_extension(".txt");
        std::string found = "no error\n";
        try {
            load(text, entry.path().filename(), options_of(text));
        } catch (const RecipeError& error) {
            found = std::string(error.what()) + "\n";
        }
        compare_with_golden(expected, found);
        ++compared;
    }
    fs::current_path(before);
    return compared;
}

const fs::path golden_folder = fs::path(WORKBENCH_SOURCE_DIR) / "tests/golden/recipe";

TEST_CASE("golden: the exact text of every error") {
    const auto load = [](const std::string& text, const fs::path& file, const RecipeChanges& changes) {
        static_cast<void>(parse_points(text, file, small_catalogue(), changes));
    };
    CHECK(compare_errors(golden_folder, load) >= 30);
}

TEST_CASE("golden: the exact text of every error of a space") {
    const auto load = [](const std::string& text, const fs::path& file, const RecipeChanges& changes) {
        static_cast<void>(parse_space(text, file, small_catalogue(), changes));
    };
    CHECK(compare_errors(golden_folder / "space", load) >= 15);
}

TEST_CASE("files that are not recipes") {
    const auto error_of = [](const fs::path& file) {
        try {
            static_cast<void>(load_recipe(file, small_catalogue()));
        } catch (const RecipeError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK(error_of("no/such.toml") == "error: no/such.toml: no such file; expected a recipe");
    CHECK(error_of("/") == "error: /: found a folder; expected a recipe");
    CHECK(contains(errors_of(std::string(2'000'000, '#')), "more than 1048576 bytes"));
    CHECK(contains(errors_of(""), "no [layout]"));

    const fs::path file = fs::temp_directory_path() / "workbench_recipe_test.toml";
    std::ofstream(file) << whole;
    CHECK(std::get<MatrixFile>(load_recipe(file, small_catalogue()).matrix.from).path ==
          fs::temp_directory_path() / "matrices/a.mtx");
    fs::remove(file);
}

}  // namespace
}  // namespace workbench
