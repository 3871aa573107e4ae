// The options that change a recipe: its matrix, and single parameters.
#pragma once

#include <filesystem>

#include "pipeline/recipe/recipe.hpp"

namespace CLI {
class App;
}

namespace workbench {

/// Adds --matrix, --member, --max-memory, --generate and --set. `changes` must live until the command line is parsed.
void add_recipe_changes(CLI::App& command, RecipeChanges& changes);

/// The file as it is given. Where there is none of this name, that of the installed program: recipes/ehyb.toml works in any
/// folder.
[[nodiscard]] std::filesystem::path find_recipe(const std::filesystem::path& given);

}  // namespace workbench
