// A suite: which recipes on which matrices, in a TOML file.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/recipe/recipe.hpp"

namespace workbench {

/// A text of a suite, and where it stands in words: "suites/ehyb.toml:4:12".
struct SuiteItem {
    std::string text;
    std::string where;
};

struct Suite {
    std::string name;
    std::string source;                // may be empty
    std::vector<SuiteItem> recipes;    // files that are there, relative to the current folder or absolute
    std::vector<SuiteItem> matrices;   // files and folders that are there, likewise
    std::vector<SuiteItem> generated;  // as --generate takes them
    std::vector<Precision> precisions{Precision::f64};
    std::vector<Backend> backends;  // empty: all
    std::string cache = "cold";
    std::int64_t samples = 20;
    double seconds = 0.2;
    double limit_seconds = 0;  // of a matrix; 0: none
};

/// Does the file begin a table [suite]? A file that is none, or cannot be read, is no suite.
[[nodiscard]] bool is_suite(const std::filesystem::path& file);

/// Reads and checks a suite. Paths in it are relative to it. Throws RecipeError, as load_recipe does, with all errors.
[[nodiscard]] Suite load_suite(const std::filesystem::path& file);

/// The same from a text; `file` need not exist, its folder does.
[[nodiscard]] Suite parse_suite(std::string_view text, const std::filesystem::path& file);

}  // namespace workbench
