// Block compressed sparse rows: square blocks that hold a nonzero, stored whole, with one column a block.
// Sources: Im, Yelick, "Optimizing sparse matrix computations for register reuse in SPARSITY" (2001); as cuSPARSE has it; its
// size after Wikberg, "Unstructured mesh FVM with GPU" (dissertation, 2025), eq. 4.3.
#pragma once

#include <algorithm>

#include "kernels/common/storage/blocks.hpp"
#include "kernels/common/storage/pattern.hpp"
#include "pipeline/contract/layout.hpp"

namespace workbench {

/// How the lanes of a warp share block rows. A group of lanes takes a block row: its lanes stand side by side over
/// `rows_at_once` rows of `blocks_at_once` neighbouring blocks, so that they read neighbouring values, and move on together.
/// Blocks with more places than a warp has lanes are gone through several times, some rows at a time.
struct BsrLanes {
    int rows_at_once = 1;
    int blocks_at_once = 1;
    int tile = 1;             // lanes over one block: rows_at_once * block size
    int groups_per_warp = 1;  // block rows that a warp takes; lanes that are left over rest

    [[nodiscard]] constexpr int lanes_per_group() const { return tile * blocks_at_once; }
};

/// As many blocks at once as keep a lane busy for at most two steps in a block row of mean length, if a warp has the lanes.
[[nodiscard]] constexpr BsrLanes bsr_lanes(Index block_size, Index block_rows, Offset blocks) {
    BsrLanes lanes;
    lanes.rows_at_once = std::min(block_size, 32 / block_size);
    lanes.tile = lanes.rows_at_once * block_size;
    const int most_at_once = lanes.rows_at_once < block_size ? 1 : 32 / lanes.tile;
    int wanted = 1;
    while (wanted < most_at_once && Offset{2} * wanted * block_rows < blocks) wanted *= 2;
    lanes.groups_per_warp = std::max(32 / (wanted * lanes.tile), 1);
    lanes.blocks_at_once = std::min(32 / lanes.groups_per_warp / lanes.tile, most_at_once);
    return lanes;
}

/// block_offsets [block rows + 1] and block_columns [blocks], of 32 bits each, and values [blocks * block_size^2], as Blocks
/// has them. The footprint is eq. 4.3.
template <ValueType Value>
struct BsrLayout final : Layout<Value> {
    Index row_count = 0;
    Index column_count = 0;
    Blocks<Value> blocks;
    Pattern pattern;  // tells nonzeros from padding; no kernel reads it

    [[nodiscard]] BsrLanes lanes() const {
        return bsr_lanes(blocks.size, blocks.block_rows(), static_cast<Offset>(blocks.columns.size()));
    }

    [[nodiscard]] Index rows() const override { return row_count; }
    [[nodiscard]] Index columns() const override { return column_count; }
    [[nodiscard]] Offset nonzeros() const override { return pattern.row_offsets.back(); }
    [[nodiscard]] std::vector<LayoutArray> arrays() const override;
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

[[nodiscard]] LayoutEntry bsr_entry();

[[nodiscard]] std::vector<KernelEntry> bsr_reference_kernels();
[[nodiscard]] std::vector<KernelEntry> bsr_cuda_kernels();
[[nodiscard]] std::vector<KernelEntry> bsr_cusparse_kernels();

}  // namespace workbench
