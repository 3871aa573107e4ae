// Block compressed sparse rows: square blocks that hold a nonzero, stored whole, with one column per block.
// Sources: Im, Yelick, "Optimizing sparse matrix computations for register reuse in SPARSITY" (2001); the arrays are those of
// cuSPARSE; the size follows Wikberg, "Unstructured mesh FVM with GPU" (dissertation, 2025), eq. 4.3.
#pragma once

#include <algorithm>

#include "kernels/common/schedule/choice.hpp"
#include "kernels/common/schemes/blocks.hpp"
#include "kernels/common/storage/pattern.hpp"
#include "kernels/common/storage/stored_layout.hpp"

namespace workbench {

/// The division of block rows among the lanes of a warp. A group of lanes takes a block row: its lanes cover `rows_at_once`
/// rows of `blocks_at_once` neighbouring blocks, so that they read neighbouring values, and advance together. Blocks with more
/// values than a warp has lanes take several passes, each over some of their rows.
struct BsrLanes {
    int rows_at_once = 1;
    int blocks_at_once = 1;
    int tile = 1;             // lanes over one block: rows_at_once * block size
    int groups_per_warp = 1;  // block rows of a warp; the remaining lanes are idle

    static constexpr auto fields() {
        return field_list(number_field<&BsrLanes::rows_at_once>(), number_field<&BsrLanes::blocks_at_once>(),
                          number_field<&BsrLanes::tile>(), number_field<&BsrLanes::groups_per_warp>());
    }

    [[nodiscard]] constexpr int lanes_per_group() const { return tile * blocks_at_once; }
};

/// So many blocks at once that a lane has at most two steps in a block row of mean length, if a warp has the lanes.
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

/// Offsets and columns have 32 bits each, so that the footprint is eq. 4.3.
template <typename Value, template <typename> typename Array>
struct Bsr : Blocks<Value, Array>, MatrixSize {
    BsrLanes lanes;

    static constexpr auto fields() {
        return field_list(MatrixSize::fields(), nested_fields<&Bsr::lanes>(), Blocks<Value, Array>::fields());
    }
};

/// The values that a lane reads of one row of its blocks.
struct BlockRun : Run<int> {
    Offset first_block = 0;
    int block_stride = 1;
    int c = 0;  // the column of the blocks
};

/// The part of a lane's work that is the same in all passes over its block row.
struct BsrPlace {
    bool works = false;
    Offset block_row = 0;
    int turn = 0;  // its block among those taken at once
    int r = 0;     // its row among those taken at once
    int c = 0;     // its column
};

/// One group of lanes per block row. known_size: the block size if it is known at compile time, otherwise 0.
template <int known_size>
/// slot_read: the last block column may reach beyond the matrix.
struct BsrGroups final : ScheduleBase<Hooks{.no_column = NoColumn::slot_read, .own_column = true}> {
    static constexpr int size_of(const auto& bsr) { return known_size == 0 ? bsr.block_size : known_size; }
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
        return {.works = group < bsr.lanes.groups_per_warp && block_row < bsr.block_rows(),
                .block_row = block_row,
                .turn = in_group / tile,
                .r = in_group % tile / size,
                .c = in_group % size};
    }
    /// The run in the pass that begins with row first_row of the blocks. A lane without work has no slots; a lane whose row is
    /// past the last one reads padding.
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

/// A row of the blocks of a block row, block after block.
template <int known_size>
struct RowOfBlocks {
    Index row = -1;
    Offset count = 0;
    Index first_column = 0;
    Index size = known_size;  // of a block
    Offset first_block = 0;
    Offset first = 0;  // slot

    [[nodiscard]] constexpr unsigned block_size() const { return static_cast<unsigned>(known_size == 0 ? size : known_size); }
    [[nodiscard]] constexpr Offset block(Offset k) const { return static_cast<unsigned>(k) / block_size(); }
    [[nodiscard]] constexpr Offset in_block(Offset k) const { return static_cast<unsigned>(k) % block_size(); }
    [[nodiscard]] constexpr Offset slot(Offset k) const { return first + block(k) * block_size() * block_size() + in_block(k); }
};

/// One thread a row, for several vectors. known_size: as in BsrGroups.
template <int known_size>
struct BsrRows final : ScheduleBase<Hooks{.no_column = NoColumn::slot_read, .stores_zeros = true, .own_column = true}> {
    static constexpr Offset threads(const auto& bsr) { return bsr.row_count; }
    static constexpr RowOfBlocks<known_size> run(const auto& bsr, Offset row, const auto&) {
        const Index size = known_size == 0 ? bsr.block_size : known_size;
        const Offset block_row = row / size;
        const Offset begin = bsr.block_offsets[block_row];
        return {.row = static_cast<Index>(row),
                .count = (bsr.block_offsets[block_row + 1] - begin) * size,
                .size = size,
                .first_block = begin,
                .first = begin * size * size + row % size * size};
    }
    static constexpr Index column(const auto& bsr, const auto& run, const RunSlot& place, const auto&) {
        const unsigned column =
            static_cast<unsigned>(bsr.block_columns[run.first_block + run.block(place.k)]) * run.block_size() +
            static_cast<unsigned>(run.in_block(place.k));
        return column < static_cast<unsigned>(bsr.column_count) ? static_cast<Index>(column) : -1;
    }
};

struct BsrRow {
    static auto choose(const auto& bsr, const auto& use) {
        constexpr Index largest_known = 4;
        if (bsr.block_size > largest_known) return use(BsrRows<0>{});
        return with_known<2, 3, 4>(bsr.block_size, [&](auto size) { return use(BsrRows<size>{}); });
    }
};

template <ValueType Value>
struct BsrLayout final : StoredLayout<Value, Bsr<Value, HostArray>> {
    static constexpr const char* name = "bsr";
    Pattern pattern;  // distinguishes nonzeros from padding; no kernel reads it
    void transfer(Transfer& all) override { this->transfer_with(all, pattern); }
    [[nodiscard]] std::vector<Index> rows_of_padding() const override { return pattern.rows_without_nonzeros(); }
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

/// The CUDA kernel `groups`.
template <ValueType Value>
class BsrKernel;

[[nodiscard]] LayoutEntry bsr_entry();
[[nodiscard]] std::vector<KernelEntry> bsr_cusparse_kernels();

}  // namespace workbench
