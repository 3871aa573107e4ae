// Runs a recipe's stages on its matrix for the commands that draw, without building a layout.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "frontends/cli/recipe_changes.hpp"
#include "pipeline/recipe/recipe.hpp"
#include "pipeline/report/report.hpp"
#include "viz/graph_view.hpp"

namespace workbench {

/// Vertices are at the places of the generator's mesh, or else where their edges pull them. Throws InputError unless the matrix
/// is square with at most most_graph_edges edges.
[[nodiscard]] GraphView drawn_graph(const MatrixChoice& choice, const CsrMatrix& matrix);

/// The places of drawn_graph for a page that contains every nonzero; empty for other matrices, and if finding the places takes
/// longer than `quick` allows: only those of a mesh and of small graphs do not.
[[nodiscard]] std::vector<Point> page_places(const MatrixChoice& choice, const CsrMatrix& matrix, bool quick);

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
