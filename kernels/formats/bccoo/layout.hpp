// BCCOO: blocks in the order of a coordinate list, with a bit for each instead of its row, and columns in 16 bits.
// Source: Yan, Li, Zhang and Zhou, "yaSpMV: yet another SpMV framework on GPUs" (PPoPP 2014): the blocks, the bits, a run of
// blocks for each thread, stored so that adjacent threads read adjacent values, differences of columns in 16 bits, and the
// segmented sums of a thread, of a thread block and of the grid. Designs of this project: the columns of a tile have 32 bits if
// one of its differences exceeds 16; the first block row of each warp is stored, and threads count the bits of previous
// threads; block rows without blocks are listed; and a second kernel completes the sums of rows that cross thread blocks
// (the paper waits for the previous thread block). Not implemented: vertical slices (BCCOO+) and tuning of all options.
#pragma once

#include <cstdint>

#include "kernels/common/schedule/choice.hpp"
#include "kernels/common/schedule/run.hpp"
#include "kernels/common/storage/pattern.hpp"
#include "kernels/common/storage/stored_layout.hpp"

namespace workbench {

inline constexpr int bccoo_lanes = 32;
inline constexpr Index largest_bccoo_block = 4;   // rows or columns
inline constexpr Index most_blocks_of_lane = 16;  // the number of bits of an element of `ends`

/// The blocks that contain a nonzero, by block row and then by column; padding is 0. A tile is the part of a warp: lane l has
/// blocks_per_lane blocks from block (32 * tile + l) * blocks_per_lane on. The last block is followed by padding with the same
/// column. Entry e = r * block_width + c of block k of a lane is
/// values[((tile * blocks_per_lane + k) * area() + e) * 32 + lane].
///
/// Block rows without blocks are not counted; block_rows contains the block rows with blocks, unless all have blocks.
template <typename Value, template <typename> typename Array>
struct Bccoo : MatrixSize {
    Index block_height = 1;
    Index block_width = 1;
    Index blocks_per_lane = 4;
    Array<std::uint16_t> ends;         // [32 * tiles] bit k: the lane's block k is the last of its block row
    Array<Index> first_block_rows;     // [tiles] the counted block row of each tile's first block
    Array<Index> first_columns;        // [32 * tiles] the block column of each lane's first block
    Array<Index> column_tiles;         // [tiles] i: the other columns are tile i of column_steps; -1 - i: of wide_columns
    Array<std::int16_t> column_steps;  // [narrow tiles * (blocks_per_lane - 1) * 32] from the previous block of the lane
    Array<Index> wide_columns;         // [other tiles * (blocks_per_lane - 1) * 32] block columns
    Array<Index> block_rows;           // [block rows with blocks] of the matrix; empty: all have blocks
    Array<Index> empty_block_rows;     // [block rows without blocks] of the matrix
    ValueArray<Value, Array> values;   // [tiles * blocks_per_lane * block_height * block_width * 32]

    static constexpr auto fields() {
        return field_list(MatrixSize::fields(), number_field<&Bccoo::block_height>(), number_field<&Bccoo::block_width>(),
                          number_field<&Bccoo::blocks_per_lane>(), structure_array<&Bccoo::ends>("32 * tiles"),
                          structure_array<&Bccoo::first_block_rows>("tiles"), column_array<&Bccoo::first_columns>("32 * tiles"),
                          structure_array<&Bccoo::column_tiles>("tiles"),
                          column_array<&Bccoo::column_steps>("narrow tiles * (blocks_per_lane - 1) * 32"),
                          column_array<&Bccoo::wide_columns>("other tiles * (blocks_per_lane - 1) * 32"),
                          structure_array<&Bccoo::block_rows>("block rows with blocks"),
                          structure_array<&Bccoo::empty_block_rows>("block rows without blocks"),
                          coded_value_array<&Bccoo::values>("tiles * blocks_per_lane * block_height * block_width * 32"));
    }

    [[nodiscard]] constexpr Offset tiles() const { return static_cast<Offset>(first_block_rows.size()); }
    [[nodiscard]] constexpr Index area() const { return block_height * block_width; }
    [[nodiscard]] constexpr Offset blocks_of_tile() const { return Offset{bccoo_lanes} * blocks_per_lane; }
    /// The block row of the matrix.
    [[nodiscard]] constexpr Index block_row(Index counted) const {
        return block_rows.size() == 0 ? counted : block_rows[counted];
    }
};

/// The index in `values` of entry 0 of a lane's block k; entry e is at 32 * e after it.
[[nodiscard]] constexpr Offset bccoo_slot(Offset tile, int blocks_per_lane, int area, int k, int lane) {
    return (tile * blocks_per_lane + k) * area * bccoo_lanes + lane;
}

/// The index in column_steps or wide_columns of the column of a lane's block k > 0. column_tile: an element of column_tiles.
[[nodiscard]] constexpr Offset bccoo_column_place(Index column_tile, int blocks_per_lane, int k, int lane) {
    const Offset tile = column_tile < 0 ? -1 - Offset{column_tile} : column_tile;
    return (tile * (blocks_per_lane - 1) + k - 1) * bccoo_lanes + lane;
}

/// One block of a lane, on the host.
struct BccooBlock {
    int lane = 0;
    int k = 0;
    Index counted_row = 0;  // its counted block row; the one of padding follows the last
    Index column = 0;       // block column
    bool is_end = false;
};

/// Visits the blocks of a tile lane by lane, which is their order in the matrix.
void for_each_block_of_tile(const auto& bccoo, Offset tile, const auto& visit) {
    BccooBlock block{.counted_row = bccoo.first_block_rows[tile]};
    const Index column_tile = bccoo.column_tiles[tile];
    for (block.lane = 0; block.lane < bccoo_lanes; ++block.lane) {
        const Offset lane = tile * bccoo_lanes + block.lane;
        block.column = bccoo.first_columns[lane];
        for (block.k = 0; block.k < bccoo.blocks_per_lane; ++block.k) {
            if (block.k > 0) {
                const Offset place = bccoo_column_place(column_tile, bccoo.blocks_per_lane, block.k, block.lane);
                block.column = column_tile < 0 ? bccoo.wide_columns[place] : block.column + bccoo.column_steps[place];
            }
            block.is_end = (bccoo.ends[lane] >> block.k & 1) != 0;
            visit(block);
            if (block.is_end) ++block.counted_row;
        }
    }
}

/// Calls use(Known<height>, Known<width>) with the size of a block: 1 x 1 if values are equal, since their blocks have no
/// padding. Throws std::logic_error if no kernel has such blocks.
void with_bccoo_block(const auto& bccoo, const auto& use) {
    if constexpr (ConstantMember<std::remove_cvref_t<decltype(bccoo.values)>>) {
        use(Known<1>{}, Known<1>{});
    } else {
        with_known<1, 2, 3, 4>(bccoo.block_height, [&](auto rows) {
            with_known<1, 2, 3, 4>(bccoo.block_width, [&](auto columns) { use(rows, columns); });
        });
    }
}

/// With values in full, or all equal. Padding of equal values also reads x, but follows the end of the last row, so that it
/// is not added to any row.
template <ValueType Value>
struct BccooLayout final : VariantLayout<Value, Bccoo<Value, HostArray>, Bccoo<Constant<Value>, HostArray>> {
    static constexpr const char* name = "bccoo";
    // No kernel reads these members, which are not part of the footprint.
    Offset block_count = 0;
    Pattern pattern;  // distinguishes nonzeros from padding

    void transfer(Transfer& all) override { this->transfer_with(all, block_count, pattern); }
    [[nodiscard]] std::vector<Index> rows_of_padding() const override { return pattern.rows_without_nonzeros(); }
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

namespace bccoo {

/// The CUDA kernel `lanes`.
template <ValueType Value>
struct Lanes;

}  // namespace bccoo

[[nodiscard]] LayoutEntry bccoo_entry();

}  // namespace workbench
