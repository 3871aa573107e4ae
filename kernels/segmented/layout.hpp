// Segmented formats: the columns in segments, so that the share of x that a segment reads stays in a cache while its rows are
// multiplied, and the nonzeros of each segment (a piece) stored as sliced ELL or as jagged diagonals of their own.
// Source: Nagasaka, "Exploiting GPU Caches in Sparse Matrix Vector Multiplication" (slides): S-JDS, S-SELL-C-sigma, and with
// segments that are not uniform NUS-JDS, NUS-SELL-C-sigma.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/common/storage/jagged.hpp"
#include "kernels/common/storage/slices.hpp"

namespace workbench {

/// One piece a segment, in the order of the segments. Piece g stores only the rows present in segment g, in the order of its
/// share: the row at place i of piece g is stored row piece_starts[g] + i. A row of the matrix is the sum of the stored rows
/// that row_places lists.
template <template <typename> typename Array>
struct SegmentRows {
    Index row_count = 0;
    Index column_count = 0;
    Array<Index> segment_columns;  // [segments + 1] first column of each segment
    Array<Index> piece_starts;     // [segments + 1] first stored row of each piece
    Array<Index> stored_rows;      // [stored rows] the row of the matrix
    Array<Index> row_starts;       // [rows + 1] first of each row in row_places
    Array<Index> row_places;       // [stored rows] the stored rows of each row, in the order of the segments

    static constexpr void fields(const auto& visit, auto&... of) {
        visit(ArrayRole::number, "row_count", of.row_count...);
        visit(ArrayRole::number, "column_count", of.column_count...);
        visit(ArrayRole::structure, "segment_columns [segments + 1]", of.segment_columns...);
        visit(ArrayRole::structure, "piece_starts [segments + 1]", of.piece_starts...);
        visit(ArrayRole::structure, "stored_rows [stored rows]", of.stored_rows...);
        visit(ArrayRole::structure, "row_starts [rows + 1]", of.row_starts...);
        visit(ArrayRole::structure, "row_places [stored rows]", of.row_places...);
    }
};

template <typename Value, typename ColumnIndex, template <typename> typename Array>
struct SlicedPieces : Slices<Value, ColumnIndex, Array> {
    Array<Index> group_slices;  // [segments + 1] first slice of each piece

    static constexpr void fields(const auto& visit, auto&... of) {
        visit(ArrayRole::structure, "group_slices [segments + 1]", of.group_slices...);
        Slices<Value, ColumnIndex, Array>::fields(visit, of...);
    }
};

template <typename Value, typename ColumnIndex, template <typename> typename Array>
struct JaggedPieces : Jagged<Value, ColumnIndex, Array> {
    Array<Offset> group_diagonals;  // [segments + 1] first diagonal of each piece

    static constexpr void fields(const auto& visit, auto&... of) {
        visit(ArrayRole::structure, "group_diagonals [segments + 1]", of.group_diagonals...);
        Jagged<Value, ColumnIndex, Array>::fields(visit, of...);
    }
};

template <template <typename, typename, template <typename> typename> typename Pieces, typename Value, typename ColumnIndex,
          template <typename> typename Array>
struct Segmented : SegmentRows<Array>, Pieces<Value, ColumnIndex, Array> {
    template <template <typename> typename Other>
    using In = Segmented<Pieces, Value, ColumnIndex, Other>;

    static constexpr void fields(const auto& visit, auto&... of) {
        SegmentRows<Array>::fields(visit, of...);
        Pieces<Value, ColumnIndex, Array>::fields(visit, of...);
    }
};

template <typename Pieces>
concept InSlices = requires(const Pieces& pieces) {
    pieces.group_slices;
};

/// The slots at a place of a piece, as a Run (slices) or a JaggedRow. Height: that of slices where it is known when this is
/// compiled, otherwise 0.
template <int height, typename Pieces>
[[nodiscard]] constexpr auto slots_at(const Pieces& pieces, Index piece, Offset place, Index row) {
    const Index first_column = pieces.segment_columns[piece];
    if constexpr (InSlices<Pieces>) {
        const int rows = height == 0 ? pieces.slice_height : height;
        return run_in_slice<height>(pieces, row, pieces.group_slices[piece] + static_cast<Index>(place / rows),
                                    static_cast<int>(place % rows), 0, first_column);
    } else {
        return JaggedRow{row, place, pieces.group_diagonals[piece], pieces.group_diagonals[piece + 1], first_column};
    }
}

template <typename Pieces>
[[nodiscard]] constexpr auto run_at(const Pieces& pieces, const auto& slots) {
    if constexpr (InSlices<Pieces>) {
        return slots;
    } else {
        return run_on_diagonals(pieces, slots);
    }
}

/// What a block works on: the places [first_place, first_place + rows_per_block) of a piece, as far as it has them.
struct PieceBlock {
    Index piece = 0;
    Index first_place = 0;
};

inline constexpr Index rows_per_block = 256;

/// Views of the pieces with the blocks that work on them.
template <typename Pieces>
struct PiecesInBlocks : Pieces {
    ArrayView<PieceBlock> blocks;
};

/// Of all kernels: a thread a stored row, segment after segment. The row of a run is the stored one.
template <int height>
struct PieceRows : ScheduleDefaults {
    static constexpr Offset threads(const auto& pieces) { return pieces.blocks.size() * rows_per_block; }
    static constexpr auto slots(const auto& pieces, Offset block_number, Index thread) {
        const PieceBlock block = pieces.blocks[block_number];
        const Offset place = Offset{block.first_place} + thread;
        const Offset stored = pieces.piece_starts[block.piece] + place;
        if (stored >= pieces.piece_starts[block.piece + 1]) return decltype(slots_at<height>(pieces, 0, 0, 0)){};
        return slots_at<height>(pieces, block.piece, place, static_cast<Index>(stored));
    }
    static constexpr auto run(const auto& pieces, Offset thread) {
        return run_at(pieces, slots(pieces, thread / rows_per_block, static_cast<Index>(thread % rows_per_block)));
    }
};

/// Calls use(schedule) with the one for pieces of this kind and height.
template <typename Pieces>
auto with_piece_rows(const Pieces& pieces, const auto& use) {
    if constexpr (InSlices<Pieces>) {
        if (pieces.slice_height == 32) return use(PieceRows<32>{});
    }
    return use(PieceRows<0>{});
}

template <ValueType Value>
struct SegmentedLayout final
    : VariantLayout<Value, Segmented<JaggedPieces, Value, Index, HostArray>,
                    Segmented<JaggedPieces, Value, std::uint16_t, HostArray>, Segmented<SlicedPieces, Value, Index, HostArray>,
                    Segmented<SlicedPieces, Value, std::uint16_t, HostArray>> {
    Origin origin;  // of each stored row, or of each lane of slices

    [[nodiscard]] const SegmentRows<HostArray>& segments() const {
        return std::visit([](const auto& one) -> const SegmentRows<HostArray>& { return one; }, this->stored);
    }
    /// The blocks of all kernels, segment after segment.
    [[nodiscard]] std::vector<PieceBlock> blocks() const;
    /// Bytes that y = A x must move at least where every stored row's sum is written and read again.
    [[nodiscard]] std::int64_t two_phase_bytes() const;
    /// The same where sums are added to a y that is set to zero before: y is written, read and written again.
    [[nodiscard]] std::int64_t atomic_bytes() const;
    void transfer(Transfer& all) override { this->transfer_with(all, origin); }
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

[[nodiscard]] LayoutEntry segmented_entry();
[[nodiscard]] std::vector<KernelEntry> segmented_cuda_kernels();

}  // namespace workbench
