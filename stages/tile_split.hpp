// The nonzeros of a matrix by tiles.
#pragma once

#include <vector>

#include "pipeline/matrix/cuts.hpp"
#include "pipeline/matrix/shares.hpp"

namespace workbench {

/// A tile for each pair of a row block and a segment that has nonzeros, by row block and then by segment. Without row blocks
/// (null): each segment that has some. A share lists the rows present in it in the order of the matrix. Linear in the nonzeros
/// and the cuts, on all cores; the shares take memory for their nonzeros and for the rows present in them. Throws Unsuitable,
/// with the figures, where that memory is not there.
[[nodiscard]] std::vector<Share> split_into_tiles(const CsrMatrix& matrix, const Cuts* row_blocks, const Cuts& segments);

}  // namespace workbench
