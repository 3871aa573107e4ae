// Where the rows of a reordered matrix begin.
#pragma once

#include <span>

#include "pipeline/matrix/host_array.hpp"
#include "pipeline/matrix/permutation.hpp"

namespace workbench {

/// The row offsets of P A Q^T from those of A. [rows + 1]
[[nodiscard]] HostArray<Offset> permuted_offsets(std::span<const Offset> row_offsets, const Permutation& row_order);

}  // namespace workbench
