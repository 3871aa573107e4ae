// The matrix that a command line or a recipe names.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pipeline/recipe/recipe.hpp"
#include "pipeline/run/report.hpp"

namespace workbench {

/// "elasticity3d:nx=40,scramble=1" as overrides of a recipe: matrix.generate=elasticity3d, matrix.nx=40, matrix.scramble=1.
/// Throws RecipeError, in the name of --generate, where there is no such generator or it does not take that.
[[nodiscard]] std::vector<std::string> generator_overrides(const std::string& text);

/// Reads or makes the matrix. Throws RecipeError where the source names none, InputError where it cannot be read or made.
[[nodiscard]] std::pair<CsrMatrix, MatrixReport> load_matrix(const MatrixSource& source);

}  // namespace workbench
