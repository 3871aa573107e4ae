// The matrix that a command line or a recipe chooses.
#pragma once

#include <utility>

#include "pipeline/recipe/recipe.hpp"
#include "pipeline/run/report.hpp"

namespace workbench {

/// Reads or makes the matrix. Throws RecipeError where none was chosen, InputError where it cannot be read or made.
[[nodiscard]] std::pair<CsrMatrix, MatrixReport> load_matrix(const MatrixChoice& choice);

}  // namespace workbench
