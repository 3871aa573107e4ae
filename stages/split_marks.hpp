// Counts the nonzeros of columns and diagonals, and marks those in dense blocks.
#pragma once

#include <vector>

#include "core/contract/device_plan.hpp"
#include "core/matrix/csr_matrix.hpp"
#include "core/matrix/shares.hpp"

namespace workbench {

/// The nonzeros in dense blocks.
struct Marks {
    HostArray<unsigned char> marked;  // [nonzeros of the matrix] 0 outside of the view
    Offset dense = 0;                 // number of dense blocks
    Offset present = 0;               // number of blocks with nonzeros
};

/// [keys] The nonzeros of the view with each key: columns, or diagonals (SplitKey).
[[nodiscard]] std::vector<Offset> counts_by_key(const CsrMatrix& matrix, const ShareView& view, SplitKey key);

/// The blocks into which a matrix is divided, and the fraction of their places that makes them dense.
struct DenseBlocks {
    Index height = 0;
    Index width = 0;
    double fill = 0;
};

/// A block, aligned to the first row and column, is dense if at least the fraction `fill` of its places within the matrix hold
/// nonzeros of the view.
[[nodiscard]] Marks mark_dense_blocks(const CsrMatrix& matrix, const ShareView& view, const DenseBlocks& shape);

}  // namespace workbench
