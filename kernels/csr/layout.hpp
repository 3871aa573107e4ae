// Compressed sparse rows: the layout everything is compared with.
#pragma once

#include <vector>

#include "pipeline/contract/layout.hpp"

namespace workbench {

/// row_offsets [rows + 1], columns [nonzeros], values [nonzeros]; the matrix as it flows through the pipeline, in the
/// layout's precision.
template <ValueType Value>
struct CsrLayout final : Layout<Value> {
    Index row_count = 0;
    Index column_count = 0;
    std::vector<Offset> row_offsets{0};
    std::vector<Index> column_indices;
    std::vector<Value> values;

    [[nodiscard]] Index rows() const override { return row_count; }
    [[nodiscard]] Index columns() const override { return column_count; }
    [[nodiscard]] Offset nonzeros() const override { return row_offsets.back(); }
    [[nodiscard]] std::vector<LayoutArray> arrays() const override;
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

/// Of the CUDA kernel `vector`, which takes more where rows are long.
inline constexpr int csr_least_lanes = 2;

[[nodiscard]] LayoutEntry csr_entry();

// The kernels, by the file that defines them. Those of a backend that is not built are never called.
[[nodiscard]] std::vector<KernelEntry> csr_reference_kernels();
[[nodiscard]] std::vector<KernelEntry> csr_eigen_kernels();
[[nodiscard]] std::vector<KernelEntry> csr_cuda_kernels();
[[nodiscard]] std::vector<KernelEntry> csr_cusparse_kernels();

}  // namespace workbench
