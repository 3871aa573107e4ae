// Sliced ELL over all rows in their current order.
// Source: Monakov, Lokhmotov, Avetisyan, "Automatically tuning sparse matrix-vector multiplication for GPU architectures"
// (2010); with rows sorted in windows beforehand it is SELL-C-sigma (Kreutzer et al., 2014).
#pragma once

#include "kernels/common/storage/slices.hpp"

namespace workbench {

/// One group of slices over all rows: lane l of slice s is row s * slice_height + l. Columns are those of the matrix.
template <ValueType Value>
struct SellLayout final : Layout<Value> {
    Index row_count = 0;
    Index column_count = 0;
    Offset nonzero_count = 0;
    Index threads_per_row = 1;  // that a GPU works with; nothing lies elsewhere for it
    Slices<Value, Index> slices;

    [[nodiscard]] Index rows() const override { return row_count; }
    [[nodiscard]] Index columns() const override { return column_count; }
    [[nodiscard]] Offset nonzeros() const override { return nonzero_count; }
    [[nodiscard]] std::vector<LayoutArray> arrays() const override;
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

[[nodiscard]] LayoutEntry sell_entry();

[[nodiscard]] std::vector<KernelEntry> sell_reference_kernels();
[[nodiscard]] std::vector<KernelEntry> sell_cuda_kernels();
[[nodiscard]] std::vector<KernelEntry> sell_cusparse_kernels();

}  // namespace workbench
