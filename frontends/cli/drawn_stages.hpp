// Runs a recipe's stages on its matrix for the commands that draw, without building a layout.
#pragma once

#include <functional>
#include <string>

#include "frontends/cli/recipe_changes.hpp"
#include "pipeline/report/report.hpp"

namespace CLI {
class App;
}

namespace workbench {

struct DrawnArguments {
    std::string what;  // a recipe (.toml) or a matrix; empty: the matrix of `changes`
    RecipeChanges changes;
};

/// Adds RECIPE|MATRIX, --matrix, --member, --max-memory, --generate and --set. `arguments` must live until the command line is
/// parsed.
void add_drawn_options(CLI::App& command, DrawnArguments& arguments);

/// Reads and checks the recipe; makes one without stages for a matrix. Throws RecipeError.
[[nodiscard]] Recipe drawn_recipe(const DrawnArguments& arguments);

/// A recipe without stages for a matrix file, or for the matrix of `changes` if the file is empty. Throws RecipeError unless
/// there is exactly one.
[[nodiscard]] Recipe matrix_alone(const std::string& file, RecipeChanges changes);

/// The number of the stage with this id: 0 for "input", the last stage for an empty id. Throws RecipeError if there is none.
[[nodiscard]] std::size_t stage_number(const Recipe& recipe, const std::string& id);

/// Reads the matrix and runs the stages, calling `visit` with the input and after each stage. The report contains what captions
/// show.
[[nodiscard]] RunReport run_drawn_stages(const Recipe& recipe, const std::function<void(const StagedMatrix&)>& visit);

}  // namespace workbench
