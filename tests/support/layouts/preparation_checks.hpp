// Checks that a preparer's results equal those of the host, bit for bit.
#pragma once

#include <string>

#include "core/matrix/preparer.hpp"
#include "support/layouts/layout_recipes.hpp"

namespace workbench {

/// Runs the stages of the recipe on the matrix and builds its layouts in both precisions, with and without the preparer. Checks
/// that orders, matrices, cuts and shares are equal after every stage, and so are the arrays or refusals of the layouts. Does
/// nothing if the recipe does not suit the matrix.
void check_preparer(Preparer& preparer, const LayoutRecipe& one, const std::string& matrix_name, const CsrMatrix& matrix);

}  // namespace workbench
