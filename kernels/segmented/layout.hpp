// Segmented formats: the columns in segments, so that the share of x that a segment reads stays in a cache while its rows are
// multiplied, and the nonzeros of each segment (a piece) stored as sliced ELL or as jagged diagonals of their own.
// Source: Nagasaka, "Exploiting GPU Caches in Sparse Matrix Vector Multiplication" (slides): S-JDS, S-SELL-C-sigma, and with
// segments that are not uniform NUS-JDS, NUS-SELL-C-sigma.
#pragma once

#include <cstdint>
#include <variant>

#include "kernels/common/jagged.hpp"
#include "kernels/common/slices.hpp"

namespace workbench {

/// Rows that a block of the natural kernel takes of one piece, a thread each.
inline constexpr Index rows_per_block = 256;

/// What a block works on: the places [first_place, first_place + rows_per_block) of a piece, as far as it has them.
struct PieceBlock {
    Index piece = 0;
    Index first_place = 0;
};

/// One piece a segment, in the order of the segments. Piece g stores only the rows present in segment g, in the order of its
/// share: the row at place i of piece g is stored row piece_starts[g] + i, and its entries are those of place i of group g in
/// `pieces`, columns relative to segment_columns[g]. A row of the matrix is the sum of the stored rows that row_places lists.
template <ValueType Value>
struct SegmentedLayout final : Layout<Value> {
    Index row_count = 0;
    Index column_count = 0;
    Offset nonzero_count = 0;
    std::vector<Index> segment_columns{0};  // [segments + 1] first column of each segment
    std::vector<Index> piece_starts{0};     // [segments + 1] first stored row of each piece
    std::vector<Index> stored_rows;         // [stored rows] the row of the matrix
    std::vector<Index> row_starts{0};       // [rows + 1] first of each row in row_places
    std::vector<Index> row_places;          // [stored rows] the stored rows of each row, in the order of the segments
    std::variant<Slices<Value, Index>, Slices<Value, std::uint16_t>, Jagged<Value, Index>, Jagged<Value, std::uint16_t>> pieces;

    [[nodiscard]] Index piece_count() const { return static_cast<Index>(piece_starts.size()) - 1; }
    [[nodiscard]] Index stored_row_count() const { return static_cast<Index>(stored_rows.size()); }

    /// The blocks of the natural kernel, segment after segment.
    [[nodiscard]] std::vector<PieceBlock> blocks() const;

    /// Bytes that y = A x must move at least where every stored row's sum is written and read again.
    [[nodiscard]] std::int64_t two_phase_bytes() const;
    /// The same where sums are added to a y that is set to zero before: y is written, read and written again.
    [[nodiscard]] std::int64_t atomic_bytes() const;

    [[nodiscard]] Index rows() const override { return row_count; }
    [[nodiscard]] Index columns() const override { return column_count; }
    [[nodiscard]] Offset nonzeros() const override { return nonzero_count; }
    [[nodiscard]] std::vector<LayoutArray> arrays() const override;
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

[[nodiscard]] LayoutEntry segmented_entry();

[[nodiscard]] std::vector<KernelEntry> segmented_reference_kernels();
[[nodiscard]] std::vector<KernelEntry> segmented_cuda_kernels();

}  // namespace workbench
