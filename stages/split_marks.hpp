// Which nonzeros are dense in some way: by diagonal, by small block, by column.
#pragma once

#include <vector>

#include "pipeline/matrix/csr_matrix.hpp"
#include "pipeline/matrix/shares.hpp"

namespace workbench {

/// The nonzeros that a split takes into its first share, and how many things they lie in.
struct Marks {
    HostArray<unsigned char> marked;  // [nonzeros of the matrix]; those outside the view are not
    Offset dense = 0;                 // diagonals, blocks or columns
    Offset present = 0;               // those that have nonzeros at all
};

/// Diagonals of which at least the share `fill` of their places holds a nonzero of the view.
[[nodiscard]] Marks mark_dense_diagonals(const CsrMatrix& matrix, const ShareView& view, double fill);

/// Blocks of size x size places, from the upper left corner of the matrix on, of which at least the share `fill` holds one;
/// a block at the rim has only the places that lie in the matrix.
[[nodiscard]] Marks mark_dense_blocks(const CsrMatrix& matrix, const ShareView& view, Index size, double fill);

/// Columns with nonzeros of the view in more than the share `density` of the matrix's rows.
[[nodiscard]] Marks mark_dense_columns(const CsrMatrix& matrix, const ShareView& view, double density);

}  // namespace workbench
