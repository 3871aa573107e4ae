// The rows of a matrix, distributed over ranks, and split into the nonzeros that need a rank's own elements of x and those that
// need other ranks' elements.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "core/contract/links.hpp"
#include "core/contract/ranks.hpp"
#include "core/contract/stage.hpp"
#include "core/matrix/csr_matrix.hpp"
#include "core/matrix/row_range.hpp"

namespace workbench {

/// Piece `piece` when `count` rows are divided into `pieces` pieces whose sizes differ by at most one.
[[nodiscard]] RowRange equal_piece(Index count, int pieces, int piece);

/// The boundaries of all pieces. [pieces + 1]
[[nodiscard]] std::vector<Index> equal_pieces(Index count, int pieces);

/// One rank's rows. Rank r has the rows row_ends[r] to row_ends[r + 1] - 1 and the elements of x from column_ends[r] to
/// column_ends[r + 1] - 1 in a numbering common to all ranks; for a square matrix both ranges are equal.
struct RankRows {
    std::vector<Index> row_ends;       // [ranks + 1]
    std::vector<Index> column_ends;    // [ranks + 1]
    CsrMatrix matrix;                  // this rank's rows, with all columns
    std::vector<Index> rows_of_input;  // the input's number of each row; empty: the numbering is that of the input

    [[nodiscard]] Index rows() const { return row_ends.back(); }
    [[nodiscard]] Index columns() const { return column_ends.back(); }
};

/// Distribution in equal pieces; each rank passes the rows of its piece.
[[nodiscard]] RankRows in_equal_pieces(const Ranks& ranks, Index rows, CsrMatrix piece);

/// Collective. Distributes rank 0's matrix in equal pieces; the other ranks pass an empty one.
[[nodiscard]] RankRows scatter(Ranks& ranks, CsrMatrix whole);

/// Collective. Renumbers a square matrix so that ranks exchange few elements of x: rank 0 partitions the graph of the whole
/// matrix with `stage` (metis_partition, multilevel_partition); `nodes` (node_blocks) first finds the unknowns of each node,
/// which stay together. Throws RanksFailed if the matrix is not square or there are more ranks than rows.
[[nodiscard]] RankRows partition(Ranks& ranks, RankRows rows, const StageEntry& nodes, const StageEntry& stage);

/// Shares as made by the stage split, with ranks as parts, each in its own numbering.
struct RankShares {
    CsrMatrix inside;                 // [this rank's rows] x [its elements of x]
    CsrMatrix outside;                // [rows with nonzeros outside] x [halo]
    std::vector<Index> outside_rows;  // this rank's rows with nonzeros outside
    std::vector<Index> halo_columns;  // [halo] in the common numbering, ascending
    Index first_column = 0;           // of its elements of x, in the common numbering
    std::vector<Index> places;        // of its elements of x, in sending order
    std::vector<HaloPlan::Message> send;
    std::vector<HaloPlan::Message> receive;

    /// The exchange for a reordered x: place[i] is the position of this rank's element i.
    [[nodiscard]] HaloPlan plan(std::span<const Index> place) const;
};

/// Collective: each rank sends the others the list of elements that it needs from them.
[[nodiscard]] RankShares split_by_rank(Ranks& ranks, RankRows rows);

}  // namespace workbench
