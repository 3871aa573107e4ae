// DASP: rows in three classes by length, all stored so that a tensor core can multiply them, in fragments of 8 x 4 entries, one
// for each lane of a warp. Source: Lu and Liu, "DASP: Specific Dense Matrix Multiply-Accumulate Units Accelerated General
// Sparse Matrix-Vector Multiplication" (SC 2023): the classes and their bounds, fragments of medium rows with enough filled
// places, the irregular rest, and the pairs of short rows. Designs of this project: the slots of a long row that a warp takes
// (64 in the paper), the window of the sort (all rows in the paper), one launch for all classes, y in the matrix's order, and
// irregular entries also on tensor cores (ordinary multiply-adds in the authors' code). No tensor cores are used in f32.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/common/storage/stored_layout.hpp"
#include "kernels/device/tuned.hpp"

namespace workbench {

inline constexpr int dasp_lanes = 32;
inline constexpr int dasp_width = 4;       // entries of a row in a fragment: the lanes of a quad
inline constexpr int dasp_rows = 8;        // rows of a fragment
inline constexpr int dasp_long_step = 64;  // long rows are padded to a multiple of it

/// A fragment is 32 slots: lane 4 i + q has entry q of row i. One list of rows contains each row of the matrix:
///  - long: a row is padded to a multiple of 64 slots and cut into pieces, a warp each;
///  - medium: sorted by descending length, 8 rows a row block. Row block b has fragments block_fragments[b] ..
///    block_fragments[b + 1] - 1, which hold the first entries of its rows, 4 a fragment. The other entries are irregular:
///    those of row i end before irregular_offsets[b] + irregular_ends[8 b + i], where those of the next row begin;
///  - short: a quad of lanes holds a row of 4, or two rows. Quad i of fragment f < pair_rows.size() / 16 holds rows
///    pair_rows[16 f + 2 i] and pair_rows[16 f + 2 i + 1]: the first one in its first lane (f < one_three_fragments) or its
///    first two, the second one in the other lanes. The fragments of rows of 4 follow;
///  - rows of one entry without a partner, and rows without entries.
/// Row -1: no row. Padding has value 0 and a column of the matrix.
template <typename Value, template <typename> typename Array>
struct Dasp : MatrixSize {
    Index one_three_fragments = 0;        // short fragments with rows of one entry beside rows of three
    Array<Index> long_rows;               // [long rows] the row of the matrix
    Array<Index> long_pieces;             // [long rows + 1] first piece of each
    Array<Index> piece_rows;              // [pieces] the long row of each, by its number here
    Array<Offset> piece_offsets;          // [pieces + 1] first slot of each
    Array<Index> long_columns;            // [long slots]
    Array<Value> long_values;             // [long slots]
    Array<Index> medium_rows;             // [8 x row blocks] the row of the matrix
    Array<Offset> block_fragments;        // [row blocks + 1] first fragment of each
    Array<Offset> irregular_offsets;      // [row blocks + 1] first irregular entry of each
    Array<std::uint16_t> irregular_ends;  // [8 x row blocks] counted from the row block's first
    Array<Index> regular_columns;         // [32 x fragments]
    Array<Value> regular_values;          // [32 x fragments]
    Array<Index> irregular_columns;       // [irregular entries]
    Array<Value> irregular_values;        // [irregular entries]
    Array<Index> pair_rows;               // [16 x fragments of pairs] the row of the matrix
    Array<Index> four_rows;               // [8 x fragments of rows of 4] the row of the matrix
    Array<Index> short_columns;           // [32 x short fragments]
    Array<Value> short_values;            // [32 x short fragments]
    Array<Index> single_rows;             // [singles] the row of the matrix
    Array<Index> single_columns;          // [singles]
    Array<Value> single_values;           // [singles]
    Array<Index> empty_rows;              // [empty rows] the row of the matrix

    static constexpr auto fields() {
        return field_list(
            MatrixSize::fields(), number_field<&Dasp::one_three_fragments>(), structure_array<&Dasp::long_rows>("long rows"),
            structure_array<&Dasp::long_pieces>("long rows + 1"), structure_array<&Dasp::piece_rows>("pieces"),
            structure_array<&Dasp::piece_offsets>("pieces + 1"), column_array<&Dasp::long_columns>("long slots"),
            value_array<&Dasp::long_values>("long slots"), structure_array<&Dasp::medium_rows>("8 x row blocks"),
            structure_array<&Dasp::block_fragments>("row blocks + 1"),
            structure_array<&Dasp::irregular_offsets>("row blocks + 1"),
            structure_array<&Dasp::irregular_ends>("8 x row blocks"), column_array<&Dasp::regular_columns>("32 x fragments"),
            value_array<&Dasp::regular_values>("32 x fragments"), column_array<&Dasp::irregular_columns>("irregular entries"),
            value_array<&Dasp::irregular_values>("irregular entries"),
            structure_array<&Dasp::pair_rows>("16 x fragments of pairs"),
            structure_array<&Dasp::four_rows>("8 x fragments of rows of 4"),
            column_array<&Dasp::short_columns>("32 x short fragments"),
            value_array<&Dasp::short_values>("32 x short fragments"), structure_array<&Dasp::single_rows>("singles"),
            column_array<&Dasp::single_columns>("singles"), value_array<&Dasp::single_values>("singles"),
            structure_array<&Dasp::empty_rows>("empty rows"));
    }

    [[nodiscard]] constexpr Offset pieces() const { return static_cast<Offset>(piece_rows.size()); }
    [[nodiscard]] constexpr Offset row_blocks() const { return static_cast<Offset>(medium_rows.size()) / dasp_rows; }
    /// The entries of medium rows, including the padding of their fragments.
    [[nodiscard]] constexpr Offset medium_entries() const {
        return static_cast<Offset>(regular_values.size()) + static_cast<Offset>(irregular_values.size());
    }
    [[nodiscard]] constexpr Offset pair_fragments() const { return static_cast<Offset>(pair_rows.size()) / (2 * dasp_rows); }
    [[nodiscard]] constexpr Offset short_fragments() const { return static_cast<Offset>(short_values.size()) / dasp_lanes; }
    /// Rows that a single thread writes.
    [[nodiscard]] constexpr Offset lone_rows() const {
        return static_cast<Offset>(single_rows.size()) + static_cast<Offset>(empty_rows.size());
    }
};

/// A lane's part of a row block.
struct DaspLane {
    Index row = -1;  // of the matrix; -1: none
    Offset first_fragment = 0;
    int fragments = 0;         // of the row block
    Offset irregular = 0;      // the lane's first irregular entry; its next ones are 4 apart
    Offset irregular_end = 0;  // of its row
};

/// Row blocks from `end` on do not exist: the lane has no entries.
[[nodiscard]] constexpr DaspLane lane_of_row_block(const auto& dasp, Offset block, Offset end, int lane) {
    if (block >= end) return {};
    const Offset place = block * dasp_rows + lane / dasp_width;
    const Offset irregular = dasp.irregular_offsets[block];
    const Offset before = lane < dasp_width ? 0 : dasp.irregular_ends[place - 1];
    const Offset first = dasp.block_fragments[block];
    return {.row = dasp.medium_rows[place],
            .first_fragment = first,
            .fragments = static_cast<int>(dasp.block_fragments[block + 1] - first),
            .irregular = irregular + before + lane % dasp_width,
            .irregular_end = irregular + dasp.irregular_ends[place]};
}

/// The two rows of a lane's quad in a fragment of short rows: the first `split` lanes have the entries of the first row.
struct DaspShort {
    int split = dasp_width;
    Index first = -1;   // the rows of the matrix
    Index second = -1;  // -1: none
};

[[nodiscard]] constexpr DaspShort lane_of_short_fragment(const auto& dasp, Offset fragment, int lane) {
    const Offset pairs = dasp.pair_fragments();
    if (fragment >= pairs) {
        return {dasp_width, dasp.four_rows[(fragment - pairs) * dasp_rows + lane / dasp_width], -1};
    }
    const Offset place = 2 * (fragment * dasp_rows + lane / dasp_width);
    return {fragment < dasp.one_three_fragments ? 1 : 2, dasp.pair_rows[place], dasp.pair_rows[place + 1]};
}

/// The thread blocks of a launch, one class after another, starting with the longest rows.
struct DaspGrid {
    static constexpr int warps = 8;  // of a block

    Offset medium = 0;  // the first block of each class
    Offset shorts = 0;
    Offset lone = 0;
    Offset end = 0;

    /// row_blocks: the number of row blocks of a warp.
    [[nodiscard]] static constexpr DaspGrid of(const auto& dasp, int row_blocks) {
        const auto blocks = [](Offset count, int a_block) { return (count + a_block - 1) / a_block; };
        DaspGrid grid;
        grid.medium = blocks(dasp.pieces(), warps);
        grid.shorts = grid.medium + blocks(dasp.row_blocks(), warps * row_blocks);
        grid.lone = grid.shorts + blocks(dasp.short_fragments(), warps * tuned::dasp_short_in_flight);
        grid.end = grid.lone + blocks(dasp.lone_rows(), warps * dasp_lanes);
        return grid;
    }
};

/// How a CUDA kernel multiplies medium rows: a warp takes `row_blocks` row blocks side by side, and loads `fragments` of each
/// before it uses the first. ahead: the next ones are loaded while these wait for x. A multiprocessor holds at least
/// blocks_per_processor, which bounds the registers.
template <int row_blocks_, int fragments_, bool ahead_, int blocks_per_processor_>
struct DaspShape {
    static constexpr int row_blocks = row_blocks_;
    static constexpr int fragments = fragments_;
    static constexpr bool ahead = ahead_;
    static constexpr int blocks_per_processor = blocks_per_processor_;
};

template <ValueType Value>
struct DaspLayout final : StoredLayout<Value, Dasp<Value, HostArray>> {
    static constexpr const char* name = "dasp";
    // No kernel reads these, and they are no part of the footprint.
    HostArray<Offset> row_offsets;  // [rows + 1] of CsrMatrix
    Offset many_row_blocks = 0;     // with fewer row blocks, the CUDA kernels use DaspDeep

    /// The bytes that a product moves at least: the layout, and the sum of every piece of a long row, written and read.
    [[nodiscard]] std::int64_t bytes_of_product() const {
        return this->bytes_to_move() + 2 * this->pieces() * static_cast<std::int64_t>(sizeof(Value));
    }
    void transfer(Transfer& all) override { this->transfer_with(all, row_offsets, many_row_blocks); }
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

template <tuned::DaspNumbers of>
using TunedDaspShape = DaspShape<of.row_blocks, of.fragments, of.ahead, of.resident_blocks>;

using DaspDeep = TunedDaspShape<tuned::dasp_deep>;
using DaspWide = TunedDaspShape<tuned::dasp_wide>;
using DaspFlat = TunedDaspShape<tuned::dasp_flat>;
using DaspSmall = TunedDaspShape<tuned::dasp_small>;
using DaspLong = TunedDaspShape<tuned::dasp_long>;

/// Calls use(shape) with the shape for the row blocks of medium rows, and all their entries.
template <ValueType Value, typename Use>
auto with_dasp_shape(Offset row_blocks, Offset entries, Offset many_row_blocks, const Use& use) {
    const auto has_at_most = [&](Offset entries_of_lane) { return entries <= entries_of_lane * row_blocks * dasp_lanes; };
    if (row_blocks < many_row_blocks) return use(DaspDeep{});
    if constexpr (sizeof(Value) == sizeof(float)) {
        return use(DaspWide{});
    } else {
        if (has_at_most(tuned::dasp_flat_entries)) return use(DaspFlat{});
        if (has_at_most(tuned::dasp_small_entries)) return use(DaspSmall{});
        return use(DaspLong{});
    }
}

template <ValueType Value, typename Use>
auto with_dasp_shape(const DaspLayout<Value>& dasp, const Use& use) {
    return with_dasp_shape<Value>(dasp.row_blocks(), dasp.medium_entries(), dasp.many_row_blocks, use);
}

// The CUDA kernels.
template <ValueType Value>
struct DaspTensor;
template <ValueType Value>
struct DaspPlain;

/// The reads of the CUDA kernels whose warps take this many row blocks.
template <ValueType Value>
void walk_dasp(const DaspLayout<Value>& layout, int row_blocks, const std::function<void(const Read&)>& visit);

[[nodiscard]] LayoutEntry dasp_entry();

}  // namespace workbench
