// Block compressed sparse rows: square blocks that hold a nonzero, stored whole, with one column a block.
// Sources: Im, Yelick, "Optimizing sparse matrix computations for register reuse in SPARSITY" (2001); as cuSPARSE has it; its
// size after Wikberg, "Unstructured mesh FVM with GPU" (dissertation, 2025), eq. 4.3.
#pragma once

#include <algorithm>

#include "kernels/common/schedule/run.hpp"
#include "kernels/common/storage/blocks.hpp"
#include "kernels/common/storage/pattern.hpp"

namespace workbench {

/// How the lanes of a warp share block rows. A group of lanes takes a block row: its lanes stand side by side over
/// `rows_at_once` rows of `blocks_at_once` neighbouring blocks, so that they read neighbouring values, and move on together.
/// Blocks with more places than a warp has lanes are gone through several times, some rows at a time.
struct BsrLanes {
    int rows_at_once = 1;
    int blocks_at_once = 1;
    int tile = 1;             // lanes over one block: rows_at_once * block size
    int groups_per_warp = 1;  // block rows that a warp takes; lanes that are left over are idle

    static constexpr void fields(const auto& visit, auto&... of) {
        visit(ArrayRole::number, "rows_at_once", of.rows_at_once...);
        visit(ArrayRole::number, "blocks_at_once", of.blocks_at_once...);
        visit(ArrayRole::number, "tile", of.tile...);
        visit(ArrayRole::number, "groups_per_warp", of.groups_per_warp...);
    }

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

/// Offsets and columns of 32 bits each, as Blocks has them. The footprint is eq. 4.3.
template <typename Value, template <typename> typename Array>
struct Bsr : Blocks<Value, Array> {
    template <template <typename> typename Other>
    using In = Bsr<Value, Other>;

    Index row_count = 0;
    Index column_count = 0;
    BsrLanes lanes;

    static constexpr void fields(const auto& visit, auto&... of) {
        visit(ArrayRole::number, "row_count", of.row_count...);
        visit(ArrayRole::number, "column_count", of.column_count...);
        BsrLanes::fields(prefixed("lanes_", visit), of.lanes...);
        Blocks<Value, Array>::fields(visit, of...);
    }
};

/// The values that a lane reads of one row of its blocks.
struct BlockRun : Run<int> {
    Offset first_block = 0;
    int block_stride = 1;
    int c = 0;  // the column of the blocks
};

/// What is the same in all passes of a lane over its block row.
struct BsrPlace {
    bool works = false;
    Offset block_row = 0;
    int turn = 0;  // which of the blocks that are taken at once
    int r = 0;     // its row among those taken at once
    int c = 0;     // its column
};

/// A group of lanes a block row. Size: the block size where it is known beforehand, otherwise 0.
template <int known_size>
struct BsrGroups : ScheduleDefaults {
    static constexpr NoColumn no_column = NoColumn::slot_read;  // the last block column may reach beyond the matrix

    static constexpr int size_of(const auto& bsr) { return known_size == 0 ? bsr.size : known_size; }
    static constexpr int rows_at_once(const auto& bsr) {
        if constexpr (known_size == 0) {
            return bsr.lanes.rows_at_once;
        } else {
            return known_size * known_size <= 32 ? known_size : 32 / known_size;
        }
    }
    static constexpr Offset warps(const auto& bsr) {
        const Offset groups = bsr.lanes.groups_per_warp;
        return (bsr.block_rows() + groups - 1) / groups;
    }
    static constexpr BsrPlace place(const auto& bsr, Offset warp, int lane) {
        const int size = size_of(bsr);
        const int tile = rows_at_once(bsr) * size;
        const int group = lane / (tile * bsr.lanes.blocks_at_once);
        const int in_group = lane % (tile * bsr.lanes.blocks_at_once);
        const Offset block_row = warp * bsr.lanes.groups_per_warp + group;
        return {group < bsr.lanes.groups_per_warp && block_row < bsr.block_rows(), block_row, in_group / tile,
                in_group % tile / size, in_group % size};
    }
    /// In the pass over the rows of the block from first_row on. A lane without work has no slots; where only its row lies past
    /// the last one, it reads padding.
    static constexpr BlockRun run(const auto& bsr, const BsrPlace& place, int first_row) {
        const int size = size_of(bsr);
        const int row_of_block = first_row + place.r;
        if (!place.works || row_of_block >= size) return {};
        const int stride = bsr.lanes.blocks_at_once;
        const Offset first = Offset{bsr.block_offsets[place.block_row]} + place.turn;
        const Offset row = place.block_row * size + row_of_block;
        return {{row < bsr.row_count ? static_cast<Index>(row) : -1, first * (size * size) + row_of_block * size + place.c,
                 (bsr.block_offsets[place.block_row + 1] - first + stride - 1) / stride, stride * size * size},
                first,
                stride,
                place.c};
    }
    static constexpr Index column(const auto& bsr, const BlockRun& run, const RunSlot& place, const auto&) {
        const Index block_column = bsr.block_columns[run.first_block + place.k * run.block_stride];
        const unsigned column = static_cast<unsigned>(block_column) * size_of(bsr) + run.c;  // below 2^31 + size
        return column < static_cast<unsigned>(bsr.column_count) ? static_cast<Index>(column) : -1;
    }
};

template <ValueType Value>
struct BsrLayout final : StoredLayout<Value, Bsr<Value, HostArray>> {
    Pattern pattern;  // tells nonzeros from padding; no kernel reads it
    void transfer(Transfer& all) override { this->transfer_with(all, pattern); }
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

[[nodiscard]] LayoutEntry bsr_entry();
[[nodiscard]] std::vector<KernelEntry> bsr_cuda_kernels();
[[nodiscard]] std::vector<KernelEntry> bsr_cusparse_kernels();

}  // namespace workbench
