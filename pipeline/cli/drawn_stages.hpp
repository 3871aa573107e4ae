// What the commands that draw begin with: a recipe's stages on its matrix, or a matrix alone. No layout is built, no kernel
// run.
#pragma once

#include <functional>
#include <string>

#include "pipeline/cli/recipe_changes.hpp"
#include "pipeline/report/report.hpp"

namespace CLI {
class App;
}

namespace workbench {

struct DrawnArguments {
    std::string what;  // a recipe where its name ends in .toml, otherwise a matrix; empty: the matrix of `changes` alone
    RecipeChanges changes;
};

/// Adds RECIPE|MATRIX, --matrix, --member, --max-memory, --generate and --set. `arguments` must live until the command line is
/// parsed.
void add_drawn_options(CLI::App& command, DrawnArguments& arguments);

/// Reads and checks the recipe; of a matrix alone, one without stages. Throws RecipeError.
[[nodiscard]] Recipe drawn_recipe(const DrawnArguments& arguments);

/// The number of the stage of this id, 0 for "input"; of the last one where no id is given. Throws RecipeError where there is
/// none.
[[nodiscard]] std::size_t stage_number(const Recipe& recipe, const std::string& id);

/// Reads the matrix and runs the stages; calls `visit` with the matrix as the input and each stage leave it. The report has
/// what captions tell.
[[nodiscard]] RunReport run_drawn_stages(const Recipe& recipe, const std::function<void(const StagedMatrix&)>& visit);

}  // namespace workbench
