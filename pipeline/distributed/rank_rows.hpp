// The rows of a matrix, spread over ranks.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "pipeline/contract/ranks.hpp"
#include "pipeline/contract/stage.hpp"
#include "pipeline/matrix/csr_matrix.hpp"
#include "pipeline/matrix/row_range.hpp"

namespace workbench {

/// Piece `piece` of so many things in `pieces` pieces whose sizes differ by at most one. Some are empty where there are more
/// pieces than things.
[[nodiscard]] RowRange equal_piece(Index count, int pieces, int piece);

/// The ends of all pieces, from 0 on. [pieces + 1]
[[nodiscard]] std::vector<Index> equal_pieces(Index count, int pieces);

/// One rank's rows. Rows and columns have numbers over all ranks: rank r has the rows from row_ends[r] to row_ends[r + 1], and
/// the elements of x from column_ends[r] to column_ends[r + 1]; of a square matrix these are the same.
struct RankRows {
    std::vector<Index> row_ends;       // [ranks + 1]
    std::vector<Index> column_ends;    // [ranks + 1]
    CsrMatrix matrix;                  // this rank's rows, with all columns
    std::vector<Index> rows_of_input;  // which row of the input each of these is; empty: the numbers are those of the input

    [[nodiscard]] Index rows() const { return row_ends.back(); }
    [[nodiscard]] Index columns() const { return column_ends.back(); }
};

/// This rank's rows in equal pieces, where each rank has those of its piece already.
[[nodiscard]] RankRows in_equal_pieces(const Ranks& ranks, Index rows, CsrMatrix piece);

/// Called by all. A matrix that rank 0 has whole, and the others leave empty, in equal pieces.
[[nodiscard]] RankRows scatter(Ranks& ranks, CsrMatrix whole);

/// Called by all. Numbers the rows and columns of a square matrix anew, so that ranks have few elements of x to exchange: the
/// parts of a graph partition by a stage (metis_partition, multilevel_partition), which rank 0 runs on the whole pattern, after
/// another one that finds the unknowns of a node (node_blocks), which stay together. Throws RanksFailed where the matrix is not
/// square, or there are more ranks than rows.
[[nodiscard]] RankRows partition(Ranks& ranks, RankRows rows, const StageEntry& nodes, const StageEntry& stage);

}  // namespace workbench
