// A matrix in the form that EHYB needs, made without stages.
#pragma once

#include <vector>

#include "core/matrix/staged_matrix.hpp"

namespace workbench {

/// The result of a partition and `split`: cuts at the boundaries, and the shares "inside" and "outside".
[[nodiscard]] StagedMatrix partitioned(const CsrMatrix& matrix, std::vector<Index> boundaries);

/// Stores the rows of a share in reverse order.
void reverse_rows(Share& share);

}  // namespace workbench
