// The options that change a recipe: its matrix, and single parameters.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pipeline/recipe/recipe.hpp"

namespace CLI {
class App;
}

namespace workbench {

/// Adds --matrix, --member, --max-memory, --generate and --set. `changes` must live until the command line is parsed.
void add_recipe_changes(CLI::App& command, RecipeChanges& changes);

/// Adds --sweep, for commands that go through all points of a recipe.
void add_sweeps(CLI::App& command, RecipeChanges& changes);

/// Each of these files with all its points. Of several, --set and --sweep change those that have what they name; a note of a
/// recipe says where that is not so. Throws RecipeError, also where one changes nothing anywhere.
[[nodiscard]] std::vector<Recipe> load_recipes(const std::vector<std::string>& files, const RecipeChanges& changes);

/// The same, the points of each file by themselves.
[[nodiscard]] std::vector<std::vector<Recipe>> load_each(const std::vector<std::string>& files, const RecipeChanges& changes);

/// Where a file or folder of the installed program lies, whether it is there or not.
[[nodiscard]] std::filesystem::path installed(const std::filesystem::path& given);

/// The file as it is given. Where there is none of this name, that of the installed program: recipes/ehyb.toml and
/// suites/ehyb.toml work in any folder.
[[nodiscard]] std::filesystem::path find_recipe(const std::filesystem::path& given);

}  // namespace workbench
