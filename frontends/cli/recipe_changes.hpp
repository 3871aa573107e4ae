// The options that change a recipe's matrix or parameters.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pipeline/recipe/recipe.hpp"

namespace CLI {
class App;
}

namespace workbench {

/// Adds --matrix, --member, --max-memory, --generate, --set and --no-sources. `changes` must live until the command line is
/// parsed.
void add_recipe_changes(CLI::App& command, RecipeChanges& changes);

/// Adds --set and --no-sources.
void add_overrides(CLI::App& command, RecipeChanges& changes);

/// Adds --sweep, for commands that run all points of a recipe.
void add_sweeps(CLI::App& command, RecipeChanges& changes);

/// Loads the files with all their points. --set and --sweep apply to every file that has the parameter; the other recipes get a
/// note. Throws RecipeError, also if an option applies to none of the files.
[[nodiscard]] std::vector<Recipe> load_recipes(const std::vector<std::string>& files, const RecipeChanges& changes);

/// Like load_recipes, with a list of points per file.
[[nodiscard]] std::vector<std::vector<Recipe>> load_each(const std::vector<std::string>& files, const RecipeChanges& changes);

/// The installed path of a file or folder such as "recipes", which need not exist. For a program in its build tree: that of the
/// sources.
[[nodiscard]] std::filesystem::path installed(const std::filesystem::path& given);

/// The given file if it exists, otherwise the installed one, so that recipes/ehyb.toml works in any folder.
[[nodiscard]] std::filesystem::path find_recipe(const std::filesystem::path& given);

}  // namespace workbench
