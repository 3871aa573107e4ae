// Marks the nonzeros in dense diagonals, dense blocks or dense columns.
#pragma once

#include <vector>

#include "core/matrix/csr_matrix.hpp"
#include "core/matrix/shares.hpp"

namespace workbench {

/// The nonzeros in dense regions: diagonals, blocks or columns.
struct Marks {
    HostArray<unsigned char> marked;  // [nonzeros of the matrix] 0 outside of the view
    Offset dense = 0;                 // number of dense regions
    Offset present = 0;               // number of regions with nonzeros
};

/// A diagonal is dense if at least the fraction `fill` of its places hold nonzeros of the view.
[[nodiscard]] Marks mark_dense_diagonals(const CsrMatrix& matrix, const ShareView& view, double fill);

/// The blocks into which a matrix is divided, and the fraction of their places that makes them dense.
struct DenseBlocks {
    Index height = 0;
    Index width = 0;
    double fill = 0;
};

/// A block, aligned to the first row and column, is dense if at least the fraction `fill` of its places within the matrix hold
/// nonzeros of the view.
[[nodiscard]] Marks mark_dense_blocks(const CsrMatrix& matrix, const ShareView& view, const DenseBlocks& shape);

/// A column is dense if more than the fraction `density` of the rows of the matrix have nonzeros of the view in it.
[[nodiscard]] Marks mark_dense_columns(const CsrMatrix& matrix, const ShareView& view, double density);

}  // namespace workbench
