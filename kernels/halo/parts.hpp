// How halo cuts a matrix into parts, and what each part will store, before any value is stored.
#pragma once

#include <array>
#include <vector>

#include "kernels/halo/layout.hpp"
#include "pipeline/matrix/staged_matrix.hpp"

namespace workbench {

/// What the builder was asked for.
struct HaloPlan {
    Index block_size = 1;
    Index warps = most_halo_warps;
    Index piece = 8;                // most steps of a row before another lane goes on with it
    std::int64_t shared_bytes = 0;  // for x and y of a part
    std::size_t value_bytes = 8;
    bool pairs = true;     // store a block and its mirror once
    bool diagonal = true;  // store triangles of the blocks on the diagonal
};

/// What one part stores. Steps are listed warp by warp, and in a warp segment by segment.
struct PlannedPart {
    std::vector<Index> halo;                   // nodes of the columns, ascending
    std::vector<Index> segments_of_warp;       // [warps]
    std::vector<Index> pair_segments_of_warp;  // [warps]
    std::vector<Index> steps_of_segment;       // [segments]
    std::vector<std::uint16_t> rows;           // [32 * segments]
    std::vector<std::uint16_t> columns;        // [32 * steps]
    std::vector<std::uint16_t> far_rows;       // [32 * far steps]
    std::vector<Index> far_columns;            // [32 * far steps]
    Offset pairs = 0;                          // blocks
    Offset blocks = 0;                         // pairs, rest and far ones
    Offset far_blocks = 0;
};

/// The first node of each part. With a partition, its parts, those that are too large cut into equal pieces; otherwise `parts`
/// pieces of about equal nonzeros. [parts + 1]
[[nodiscard]] std::vector<Index> halo_part_nodes(const StagedMatrix& staged, const HaloPlan& plan, Index parts,
                                                 Index& parts_cut);

/// The positions in CsrMatrix::values of what stands in a block, row by row; -1: nothing.
using HaloBlock = std::array<Offset, std::size_t{largest_halo_block} * largest_halo_block>;
[[nodiscard]] HaloBlock halo_block(const CsrMatrix& matrix, Index block_size, Index row_node, Index column_node);

/// Does block (column, row) hold the same values as block (row, column), mirrored?
[[nodiscard]] bool halo_is_mirrored(const CsrMatrix& matrix, Index block_size, Index row_node, Index column_node);

[[nodiscard]] PlannedPart plan_halo_part(const CsrMatrix& matrix, const HaloPlan& plan, Index first_node, Index end_node);

}  // namespace workbench
