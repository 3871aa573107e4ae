// Plans the parts of a matrix: their nodes, and the places of their blocks.
#pragma once

#include <array>
#include <iterator>
#include <span>
#include <vector>

#include "core/matrix/staged_matrix.hpp"
#include "kernels/formats/halo/layout.hpp"

namespace workbench {

struct HaloOptions {
    Index block_size = 1;
    Index warps = most_halo_warps;
    Index piece = 8;                // most steps of a row in one lane
    std::int64_t shared_bytes = 0;  // for x and y of a part
    std::size_t value_bytes = 8;
    bool pairs = true;     // store a block and its mirror once
    bool diagonal = true;  // store triangles of the blocks on the diagonal
};

/// The structure of one part. Steps are listed warp by warp, and in a warp segment by segment.
struct PlannedPart {
    HostArray<Index> halo;                   // nodes of the columns, ascending
    HostArray<Index> segments_of_warp;       // [warps]
    HostArray<Index> pair_segments_of_warp;  // [warps]
    HostArray<Index> steps_of_segment;       // [segments]
    HostArray<std::uint16_t> rows;           // [32 * segments]
    HostArray<std::uint16_t> columns;        // [32 * steps]
    HostArray<std::uint16_t> far_rows;       // [32 * far steps]
    HostArray<Index> far_columns;            // [32 * far steps]
    Offset pairs = 0;                        // blocks
    Offset blocks = 0;                       // pairs, rest and far ones
    Offset far_blocks = 0;
};

/// The first node of each part. Parts are those of the partition or, without one, `parts` pieces with about equally many
/// nonzeros; parts that are too large are cut into equal pieces. [parts + 1]
[[nodiscard]] HostArray<Index> halo_part_nodes(const StagedMatrix& staged, const HaloOptions& options, Index parts,
                                               Index& parts_cut);

/// The number of columns below `column`, among ascending ones. The search has no branch to predict.
[[nodiscard]] inline Offset columns_before(std::span<const Index> columns, Offset column) {
    if (columns.empty()) return 0;
    const Index* begin = columns.data();
    for (std::size_t left = columns.size(); left > 1;) {
        const std::size_t half = left / 2;
        begin += half & (0 - static_cast<std::size_t>(begin[half - 1] < column));  // all bits or none
        left -= half;
    }
    return begin - columns.data() + (*begin < column ? 1 : 0);
}

/// Calls visit(row of the block, column of the block, position in CsrMatrix::values) for the nonzeros of a block, row by row.
template <typename Visit>
void for_each_in_halo_block(const CsrMatrix& matrix, Index block_size, Index row_node, Index column_node, const Visit& visit) {
    const Offset first_column = Offset{column_node} * block_size;
    for (Index r = 0; r < block_size; ++r) {
        const Offset row = Offset{row_node} * block_size + r;
        if (row >= matrix.rows) return;
        const std::span<const Index> columns = matrix.row_columns(static_cast<Index>(row));
        for (Offset k = columns_before(columns, first_column);
             k < std::ssize(columns) && columns[k] < first_column + block_size; ++k) {
            visit(r, static_cast<Index>(columns[k] - first_column), matrix.row_offsets[row] + k);
        }
    }
}

/// The positions in CsrMatrix::values of a block's entries, row by row; -1: no nonzero. Only block_size^2 are set.
using HaloBlock = std::array<Offset, std::size_t{largest_halo_block} * largest_halo_block>;
[[nodiscard]] HaloBlock halo_block(const CsrMatrix& matrix, Index block_size, Index row_node, Index column_node);

/// True if block (column, row) is the transpose of block (row, column).
[[nodiscard]] bool halo_is_mirrored(const CsrMatrix& matrix, Index block_size, Index row_node, Index column_node);

[[nodiscard]] PlannedPart plan_halo_part(const CsrMatrix& matrix, const HaloOptions& options, Index first_node, Index end_node);

}  // namespace workbench
