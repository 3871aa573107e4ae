// ELL (ELLPACK): every row padded to the longest one, stored row by row or column by column.
// Source: Kincaid, Oppe, Young, "ITPACKV 2D user's guide" (1989); kernels after Wikberg, "Unstructured mesh FVM with GPU"
// (2025), section 4.2.3 and chapter 5. The listing there mixes the two orders: it begins at row * length and goes on by n.
#pragma once

#include "kernels/common/storage/ell_slots.hpp"

namespace workbench {

/// Row r of the matrix is row r of the slots. Where it ends is known by the -1 in place of a column.
template <ValueType Value>
struct EllLayout final : Layout<Value> {
    Index column_count = 0;
    Offset nonzero_count = 0;
    EllSlots<Value> slots;

    [[nodiscard]] Index rows() const override { return slots.row_count; }
    [[nodiscard]] Index columns() const override { return column_count; }
    [[nodiscard]] Offset nonzeros() const override { return nonzero_count; }
    [[nodiscard]] std::vector<LayoutArray> arrays() const override;
    /// Column by column, a thread reads a row; row by row, neighbouring threads read neighbouring slots of it.
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

[[nodiscard]] LayoutEntry ell_entry();

[[nodiscard]] std::vector<KernelEntry> ell_reference_kernels();
[[nodiscard]] std::vector<KernelEntry> ell_cuda_kernels();

}  // namespace workbench
