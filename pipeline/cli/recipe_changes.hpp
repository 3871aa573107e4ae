// What a command line changes in a recipe: its matrix, and single parameters.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pipeline/recipe/recipe.hpp"

namespace CLI {
class App;
}

namespace workbench {

struct RecipeChanges {
    std::string matrix;                  // --matrix FILE; empty: none
    std::string member;                  // --member NAME, of whichever file is read; empty: none
    std::string generate;                // --generate KIND:NAME=VALUE,...; empty: none
    std::vector<std::string> overrides;  // --set WHAT=VALUE
};

/// Adds --matrix, --member, --max-memory, --generate and --set. `changes` must live until the command line is parsed.
void add_recipe_changes(CLI::App& command, RecipeChanges& changes);

/// The file as it is given. Where there is none of this name, that of the installed program: recipes/ehyb.toml works in any
/// folder.
[[nodiscard]] std::filesystem::path find_recipe(const std::filesystem::path& given);

/// The recipe with the command line's matrix in place of its own, and the parameters set. Throws RecipeError.
[[nodiscard]] Recipe load_changed_recipe(const std::string& file, const RecipeChanges& changes);

}  // namespace workbench
