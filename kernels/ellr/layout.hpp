// ELLPACK-R: ELL column by column, and the length of each row, so that no thread reads padding.
// Source: Vazquez, Ortega, Fernandez, Garzon, "Improving the performance of the sparse matrix vector product with GPUs" (2010).
// With all rows sorted by length beforehand it is PELLR (Wang, Gu, 2020, section 3), whose array perm is the row order.
#pragma once

#include <vector>

#include "kernels/common/storage/ell_slots.hpp"

namespace workbench {

/// Row r of the matrix is row r of the slots and has row_lengths[r] nonzeros; what follows them is never read.
template <ValueType Value>
struct EllrLayout final : Layout<Value> {
    Index column_count = 0;
    std::vector<Index> row_lengths;  // [rows]
    EllSlots<Value> slots;

    [[nodiscard]] Index rows() const override { return slots.row_count; }
    [[nodiscard]] Index columns() const override { return column_count; }
    [[nodiscard]] Offset nonzeros() const override { return slots.row_offsets.back(); }
    [[nodiscard]] std::vector<LayoutArray> arrays() const override;
    /// As bytes_to_move, but without the padding, which no kernel reads.
    [[nodiscard]] std::int64_t bytes_of_product() const;
    /// A thread reads a row. Slots of padding stand in the lane and step that would read them.
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

[[nodiscard]] LayoutEntry ellr_entry();

[[nodiscard]] std::vector<KernelEntry> ellr_reference_kernels();
[[nodiscard]] std::vector<KernelEntry> ellr_cuda_kernels();

}  // namespace workbench
