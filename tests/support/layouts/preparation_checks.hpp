// Demands on whoever prepares: what the host makes, to the bit.
#pragma once

#include <string>

#include "pipeline/matrix/preparer.hpp"
#include "support/layouts/layout_recipes.hpp"

namespace workbench {

/// Runs the stages of the recipe on the matrix and builds its layouts in both precisions, here and with the preparer, and
/// demands the same orders, matrices, cuts and shares after every stage, and the same arrays or refusals of the layouts. Where
/// the recipe does not take such a matrix, nothing.
void check_preparer(Preparer& preparer, const LayoutRecipe& one, const std::string& matrix_name, const CsrMatrix& matrix);

}  // namespace workbench
