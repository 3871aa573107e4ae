// Compressed sparse columns: x is read once, in order; y is added to wherever a column has a nonzero.
// Source: Wikberg, "Unstructured mesh FVM with GPU" (2025), section 4.2.3, "Compressed Sparse Row/Column Format".
#pragma once

#include <vector>

#include "pipeline/contract/layout.hpp"

namespace workbench {

/// The column of a nonzero follows from its place; its row is stored.
template <ValueType Value>
struct CscLayout final : Layout<Value> {
    Index row_count = 0;
    Index column_count = 0;
    std::vector<Offset> column_offsets{0};  // [columns + 1]
    std::vector<Index> row_indices;         // [nonzeros]; ascending within a column
    std::vector<Value> values;              // [nonzeros]

    // The row offsets of the matrix that it was built from. No kernel reads them and they are no part of the footprint: they
    // let every slot be named.
    std::vector<Offset> row_offsets{0};  // [rows + 1]

    [[nodiscard]] Index rows() const override { return row_count; }
    [[nodiscard]] Index columns() const override { return column_count; }
    [[nodiscard]] Offset nonzeros() const override { return column_offsets.back(); }
    [[nodiscard]] std::vector<LayoutArray> arrays() const override;
    /// As the lanes of the CUDA kernel read them.
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

[[nodiscard]] LayoutEntry csc_entry();

[[nodiscard]] std::vector<KernelEntry> csc_reference_kernels();
[[nodiscard]] std::vector<KernelEntry> csc_cuda_kernels();

}  // namespace workbench
