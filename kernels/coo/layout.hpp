// COO, the coordinate list: a row, a column and a value for each nonzero, row by row.
// Source: Bell, Garland, "Implementing sparse matrix-vector multiplication on throughput-oriented processors" (2009).
#pragma once

#include "kernels/common/storage/triplets.hpp"

namespace workbench {

template <ValueType Value>
struct CooLayout final : Layout<Value> {
    Index row_count = 0;
    Index column_count = 0;
    Triplets<Value> triplets;

    [[nodiscard]] Index rows() const override { return row_count; }
    [[nodiscard]] Index columns() const override { return column_count; }
    [[nodiscard]] Offset nonzeros() const override { return triplets.count(); }
    [[nodiscard]] std::vector<LayoutArray> arrays() const override;
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

[[nodiscard]] LayoutEntry coo_entry();

[[nodiscard]] std::vector<KernelEntry> coo_reference_kernels();
[[nodiscard]] std::vector<KernelEntry> coo_cuda_kernels();

}  // namespace workbench
