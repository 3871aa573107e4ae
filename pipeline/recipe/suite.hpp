// Suites: TOML files that list recipes and matrices.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/recipe/recipe.hpp"

namespace workbench {

/// A string of a suite and its place: "suites/ehyb.toml:4:12".
struct SuiteItem {
    std::string text;
    std::string where;
};

/// A matrix by name, with the sizes that the source states. A matrix with a group is from the SuiteSparse collection.
struct SuiteMatrix {
    std::string group = {};  // empty: unknown
    std::string name = {};
    std::optional<std::int64_t> rows = {};
    std::optional<std::int64_t> nonzeros = {};
    std::string where = {};

    /// "GROUP/NAME", or the name alone.
    [[nodiscard]] std::string full_name() const { return group.empty() ? name : group + "/" + name; }
};

/// Reads "GROUP/NAME" or "NAME"; none if a name is empty or has other characters than names of the collection.
[[nodiscard]] std::optional<SuiteMatrix> read_matrix_name(std::string_view text);

struct Suite {
    std::string name;
    std::string source;                // may be empty
    std::vector<SuiteItem> recipes;    // existing files, absolute or relative to the current folder
    std::vector<SuiteItem> matrices;   // existing files and folders, likewise
    std::vector<SuiteMatrix> named;    // to be found in `matrices`; empty: all matrices in them
    std::vector<SuiteItem> generated;  // arguments of --generate
    std::vector<Precision> precisions{Precision::f64};
    std::vector<Backend> backends;  // empty: all
    std::string cache = "warm";
    std::string inside;  // "cg": each product runs in an iteration of it; `cache` is ignored
    std::int64_t samples = 20;
    double seconds = 0.2;
    double limit_seconds = 0;  // per matrix; 0: none
};

/// The keys of [suite] that are not lists.
[[nodiscard]] const std::vector<ParameterDeclaration>& suite_declarations();

/// The keys of a matrix in `named`.
[[nodiscard]] const std::vector<ParameterDeclaration>& named_matrix_declarations();

/// True if the file can be read and has a table [suite].
[[nodiscard]] bool is_suite(const std::filesystem::path& file);

/// Reads and checks a suite. Paths in it are relative to it. Throws RecipeError with all errors, as load_recipe does.
[[nodiscard]] Suite load_suite(const std::filesystem::path& file);

/// Like load_suite, for a text. `file` need not exist; paths are relative to its folder.
[[nodiscard]] Suite parse_suite(std::string_view text, const std::filesystem::path& file);

}  // namespace workbench
