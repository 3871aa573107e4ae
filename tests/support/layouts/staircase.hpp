// A matrix after the stages that Staircase SELL needs.
#pragma once

#include "core/matrix/staged_matrix.hpp"

namespace workbench {

/// Rows in ascending order of length, columns in their original order, and length groups.
[[nodiscard]] StagedMatrix staircase_of(const CsrMatrix& matrix, Index slice_height, double alpha);

}  // namespace workbench
