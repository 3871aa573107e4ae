// A suite: which recipes on which matrices, in a TOML file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
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

/// A matrix that the source names, of the SuiteSparse collection where it has a group, and what the source says of it.
struct SuiteMatrix {
    std::string group = {};  // empty: it is in no group that is known
    std::string name = {};
    std::optional<std::int64_t> rows = {};
    std::optional<std::int64_t> nonzeros = {};
    std::string where = {};

    /// "GROUP/NAME", or the name alone.
    [[nodiscard]] std::string full_name() const { return group.empty() ? name : group + "/" + name; }
};

/// Of "GROUP/NAME" or "NAME"; none where it is neither, or not of the letters that names there are made of.
[[nodiscard]] std::optional<SuiteMatrix> read_matrix_name(std::string_view text);

struct Suite {
    std::string name;
    std::string source;                // may be empty
    std::vector<SuiteItem> recipes;    // files that are there, relative to the current folder or absolute
    std::vector<SuiteItem> matrices;   // files and folders that are there, likewise
    std::vector<SuiteMatrix> named;    // to be looked for in these; where there are none: all that is in them
    std::vector<SuiteItem> generated;  // as --generate takes them
    std::vector<Precision> precisions{Precision::f64};
    std::vector<Backend> backends;  // empty: all
    std::string cache = "cold";
    std::string inside;  // "cg": each product in an iteration of it, whatever `cache` says
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
