// The entries of one row, put into the order of their columns.
#pragma once

#include "pipeline/matrix/types.hpp"

namespace workbench {

/// Sorts the entries of a row by column, in place; those of the same column stay in the order in which they came.
void sort_row(Index* columns, double* values, Offset length);

}  // namespace workbench
