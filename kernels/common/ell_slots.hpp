// ELL, the storage that several layouts share: every row has as many slots as the longest one.
// Source: Kincaid, Oppe, Young, "ITPACKV 2D user's guide" (1989); on a GPU: Bell, Garland (2008), and the dissertation by
// Wikberg, "Unstructured mesh FVM with GPU" (2025), section 4.2.3.
#pragma once

#include <functional>
#include <vector>

#include "kernels/common/slot_bound.hpp"
#include "pipeline/contract/layout.hpp"
#include "pipeline/matrix/shares.hpp"

namespace workbench {

enum class EllOrder {
    row_major,     // the slots of a row are neighbours
    column_major,  // the k-th slots of all rows are neighbours
};

/// The column that is stored in padding: no kernel reads x for it.
inline constexpr Index no_column = -1;

/// The rows of a share, packed to the left: slot k of the row stored at place r holds its k-th nonzero, or padding of value 0
/// and column -1.
template <ValueType Value>
struct EllSlots {
    EllOrder order = EllOrder::column_major;
    Index row_count = 0;         // rows stored
    Index width = 0;             // slots of each row
    std::vector<Index> columns;  // [row_count * width]
    std::vector<Value> values;   // [row_count * width]

    // Where the slots come from. No kernel reads these and they are no part of the footprint: they let every slot be named.
    std::vector<Offset> row_offsets{0};  // [row_count + 1] nonzeros before each row
    std::vector<Offset> nonzeros;        // their positions in CsrMatrix::values; empty: 0, 1, 2, ...

    /// Below 2^62, as both factors are below 2^31.
    [[nodiscard]] Offset slot_count() const { return static_cast<Offset>(row_count) * width; }
    /// Distance of two neighbouring slots of a row, and of the first slots of two neighbouring rows.
    [[nodiscard]] Offset slot_stride() const { return order == EllOrder::row_major ? 1 : row_count; }
    [[nodiscard]] Offset row_stride() const { return order == EllOrder::row_major ? width : 1; }
    [[nodiscard]] Offset slot(Index stored, Index k) const { return stored * row_stride() + k * slot_stride(); }
};

/// Throws Unsuitable, with the figures, where the slots are more than `slots_per_nonzero` times the nonzeros, or where they
/// would not fit into memory.
template <ValueType Value>
[[nodiscard]] EllSlots<Value> build_ell_slots(const CsrMatrix& matrix, const ShareView& share, EllOrder order,
                                              double slots_per_nonzero);

/// What the owner of the slots knows about them and they do not.
struct EllFrame {
    int value_array = 0;  // numbers in Layout::arrays()
    int column_array = 0;
    int lanes_per_row = 1;        // threads that share a row: a power of two, at most 32
    std::int64_t first_warp = 0;  // lanes are dealt to warps of 32 in order, from this one on
    // Row of the matrix that is stored at a place; none: the place itself.
    std::function<Index(Index stored)> row = {};
};

/// Walks every slot in the order of memory, for Layout::for_each_slot. A row's slots go to its lanes in turn. Padding reads no
/// x and adds to no row. Throws std::logic_error where the arrays are not of one size or padding has a column.
template <ValueType Value>
void for_each_slot(const EllSlots<Value>& slots, const EllFrame& frame, const std::function<void(const Slot&)>& visit);

}  // namespace workbench
