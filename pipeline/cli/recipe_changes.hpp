// The options that change a recipe: its matrix, and single parameters.
#pragma once

#include "pipeline/recipe/recipe.hpp"

namespace CLI {
class App;
}

namespace workbench {

/// Adds --matrix, --member, --max-memory, --generate and --set. `changes` must live until the command line is parsed.
void add_recipe_changes(CLI::App& command, RecipeChanges& changes);

}  // namespace workbench
