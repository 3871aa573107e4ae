// Sorts the entries of one row by column.
#pragma once

#include "core/matrix/types.hpp"

namespace workbench {

/// Sorts the entries of a row by column, in place and stable.
void sort_row(Index* columns, double* values, Offset length);

}  // namespace workbench
