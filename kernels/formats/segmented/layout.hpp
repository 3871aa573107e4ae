// Segmented formats: the columns are cut into segments, so that the x of a segment stays in a cache while its rows are
// multiplied, and the nonzeros of each segment (a piece) are stored as sliced ELL or as jagged diagonals of their own. Source:
// Nagasaka, "Exploiting GPU Caches in Sparse Matrix Vector Multiplication" (slides): S-JDS, S-SELL-C-sigma, and with
// non-uniform segments NUS-JDS, NUS-SELL-C-sigma.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "kernels/common/schemes/jagged.hpp"
#include "kernels/common/schemes/slices.hpp"
#include "kernels/common/storage/stored_layout.hpp"

namespace workbench {

/// One piece per segment, in the order of the segments. Piece g stores only the rows present in segment g, in the order of its
/// share: the row at place i of piece g is stored row piece_starts[g] + i. A row of the matrix is the sum of the stored rows
/// that row_places lists.
template <template <typename> typename Array>
struct SegmentRows : MatrixSize {
    Array<Index> segment_columns;  // first column of each segment
    Array<Index> piece_starts;     // first stored row of each piece
    Array<Index> stored_rows;      // the row of the matrix
    Array<Index> row_starts;       // first of each row in row_places
    Array<Index> row_places;       // the stored rows of each row, in the order of the segments

    static constexpr auto fields() {
        return field_list(MatrixSize::fields(), structure_array<&SegmentRows::segment_columns>("segments + 1"),
                          structure_array<&SegmentRows::piece_starts>("segments + 1"),
                          structure_array<&SegmentRows::stored_rows>("stored rows"),
                          structure_array<&SegmentRows::row_starts>("rows + 1"),
                          structure_array<&SegmentRows::row_places>("stored rows"));
    }
};

template <typename Value, typename ColumnIndex, template <typename> typename Array>
struct SlicedPieces : Slices<Value, ColumnIndex, Array> {
    Array<Index> group_slices;  // first slice of each piece

    static constexpr auto fields() {
        return field_list(structure_array<&SlicedPieces::group_slices>("segments + 1"),
                          Slices<Value, ColumnIndex, Array>::fields());
    }
};

template <typename Value, typename ColumnIndex, template <typename> typename Array>
struct JaggedPieces : Jagged<Value, ColumnIndex, Array> {
    Array<Offset> group_diagonals;  // first diagonal of each piece

    static constexpr auto fields() {
        return field_list(structure_array<&JaggedPieces::group_diagonals>("segments + 1"),
                          Jagged<Value, ColumnIndex, Array>::fields());
    }
};

template <template <typename, typename, template <typename> typename> typename Pieces, typename Value, typename ColumnIndex,
          template <typename> typename Array>
struct Segmented : SegmentRows<Array>, Pieces<Value, ColumnIndex, Array> {
    static constexpr auto fields() {
        return field_list(SegmentRows<Array>::fields(), Pieces<Value, ColumnIndex, Array>::fields());
    }
};

template <template <typename, typename, template <typename> typename> typename Pieces, typename Value, typename ColumnIndex,
          template <typename> typename Array, template <typename> typename Other, template <typename> typename Values>
struct InStorageOf<Segmented<Pieces, Value, ColumnIndex, Array>, Other, Values> {
    using Type = Segmented<Pieces, Values<Value>, ColumnIndex, Other>;
};

template <typename Pieces>
concept InSlices = requires(const Pieces& pieces) {
    pieces.group_slices;
};

/// The slots at a place of a piece, as a Run (slices) or a JaggedRow. height: that of the slices if it is known at compile
/// time, otherwise 0.
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

/// The work of a block: the places [first_place, first_place + rows_per_block) of a piece, up to its last one.
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

/// All kernels: one thread per stored row, segment after segment. Run::row is the stored row.
template <int height>
struct PieceRows final : ScheduleBase<Hooks{.side_by_side = AdjacentRuns::descending}> {
    static constexpr Offset threads(const auto& pieces) { return pieces.blocks.size() * rows_per_block; }
    template <typename Pieces>
    static constexpr Offset threads_side_by_side(const Pieces& pieces) {
        if constexpr (InSlices<Pieces>) {
            return std::gcd(rows_per_block, pieces.slice_height);
        } else {
            return rows_per_block;
        }
    }
    static constexpr auto slots(const auto& pieces, Offset block_number, Index thread) {
        const PieceBlock block = pieces.blocks[block_number];
        const Offset place = Offset{block.first_place} + thread;
        const Offset stored = pieces.piece_starts[block.piece] + place;
        if (stored >= pieces.piece_starts[block.piece + 1]) return decltype(slots_at<height>(pieces, 0, 0, 0)){};
        return slots_at<height>(pieces, block.piece, place, static_cast<Index>(stored));
    }
    static constexpr auto run(const auto& pieces, Offset thread, const auto&) {
        return run_at(pieces, slots(pieces, thread / rows_per_block, static_cast<Index>(thread % rows_per_block)));
    }
};

/// Calls use(schedule) with the schedule for pieces of this kind and height.
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
    static constexpr const char* name = "segmented";
    Origin origin;  // of each stored row, or of each lane of slices

    [[nodiscard]] const SegmentRows<HostArray>& segments() const {
        return std::visit([](const auto& one) -> const SegmentRows<HostArray>& { return one; }, this->stored);
    }
    /// The blocks of all kernels, segment after segment.
    [[nodiscard]] std::vector<PieceBlock> blocks() const;
    /// The least bytes of a product that writes the sum of every stored row and reads it again.
    [[nodiscard]] std::int64_t two_phase_bytes() const;
    /// The least bytes of a product that adds to a y which was set to zero: y is written, read and written again.
    [[nodiscard]] std::int64_t atomic_bytes() const;
    void transfer(Transfer& all) override { this->transfer_with(all, origin); }
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

// The CUDA kernels.
template <ValueType Value>
struct SegmentedTwoPhase;
template <ValueType Value>
struct SegmentedAtomic;

[[nodiscard]] LayoutEntry segmented_entry();

}  // namespace workbench
