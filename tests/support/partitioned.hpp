// A matrix as the stages leave it for EHYB, made without them.
#pragma once

#include <vector>

#include "pipeline/matrix/staged_matrix.hpp"

namespace workbench {

/// What a partition and `split` would leave: cuts at the boundaries, and the shares "inside" and "outside".
[[nodiscard]] StagedMatrix partitioned(const CsrMatrix& matrix, std::vector<Index> boundaries);

/// Stores the rows of a share the other way round.
void reverse_rows(Share& share);

}  // namespace workbench
