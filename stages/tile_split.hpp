// Splits the nonzeros of a matrix into tiles.
#pragma once

#include <vector>

#include "core/matrix/cuts.hpp"
#include "core/matrix/shares.hpp"

namespace workbench {

/// A share for each tile with nonzeros, sorted by row block and then by segment; without row blocks (null), a share for each
/// segment with nonzeros. Rows are in the order of the matrix. In parallel; linear in the nonzeros and the cuts, in time and in
/// memory. Throws Unsuitable, with the figures, if memory is short.
[[nodiscard]] std::vector<Share> split_into_tiles(const CsrMatrix& matrix, const Cuts* row_blocks, const Cuts& segments);

}  // namespace workbench
