// A matrix for layouts that cut the nonzeros into tiles of equal size.
#pragma once

#include "core/matrix/csr_matrix.hpp"

namespace workbench {

/// Rows that begin at the ends of tiles of `tile` nonzeros and one, two and many before them, rows of one and several tiles,
/// and empty rows within and between tiles. The last tile is not full.
[[nodiscard]] CsrMatrix rows_of_tiles(Index tile);

}  // namespace workbench
