// HYB: ELL for the first k nonzeros of each row, a coordinate list for what longer rows have beyond them. Most rows of a matrix
// with few long ones are short: ELL alone would pad them all to the longest.
// Source: Bell and Garland, "Implementing sparse matrix-vector multiplication on throughput-oriented processors" (2009).
// Stage split with by = "first_k" chooses k.
#pragma once

#include "kernels/common/ell_slots.hpp"
#include "kernels/common/triplets.hpp"

namespace workbench {

/// The rows present in share `first` in ELL, column by column, in that share's order; then share `rest` as triplets, which add
/// to what is there. A row without nonzeros is in neither.
template <ValueType Value>
struct HybLayout final : Layout<Value> {
    Index row_count = 0;
    Index column_count = 0;
    EllSlots<Value> first;
    std::vector<Index> first_rows;  // [first.row_count] the row at each place of ELL; empty: place i is row i, for all rows
    Triplets<Value> rest;

    /// Does ELL write every row of y?
    [[nodiscard]] bool first_has_all_rows() const { return first.row_count == row_count; }

    [[nodiscard]] Index rows() const override { return row_count; }
    [[nodiscard]] Index columns() const override { return column_count; }
    [[nodiscard]] Offset nonzeros() const override { return first.row_offsets.back() + rest.count(); }
    [[nodiscard]] std::vector<LayoutArray> arrays() const override;
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

[[nodiscard]] LayoutEntry hyb_entry();

[[nodiscard]] std::vector<KernelEntry> hyb_reference_kernels();
[[nodiscard]] std::vector<KernelEntry> hyb_cuda_kernels();

}  // namespace workbench
