// A matrix as the stages leave it for Staircase SELL.
#pragma once

#include "pipeline/matrix/staged_matrix.hpp"

namespace workbench {

/// Rows in ascending length, columns left where they are, and length groups.
[[nodiscard]] StagedMatrix staircase_of(const CsrMatrix& matrix, Index slice_height, double alpha);

}  // namespace workbench
