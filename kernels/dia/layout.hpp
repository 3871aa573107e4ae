// Diagonals: every diagonal that holds a nonzero is stored whole, and its one offset stands for all columns.
// Source: Saad, "SPARSKIT" (1990); on a GPU: Bell, Garland, "Efficient sparse matrix-vector multiplication on CUDA" (2008),
// section 3.1.
#pragma once

#include <vector>

#include "kernels/common/storage/pattern.hpp"
#include "pipeline/contract/layout.hpp"

namespace workbench {

/// offsets [diagonals]: column - row, ascending. values [diagonals * rows]: row i of diagonal d is values[d * rows + i], so
/// that neighbouring rows are neighbours; its column is i + offsets[d]. Where that is outside the matrix there is padding, too.
template <ValueType Value>
struct DiaLayout final : Layout<Value> {
    Index row_count = 0;
    Index column_count = 0;
    std::vector<Index> offsets;
    std::vector<Value> values;
    Pattern pattern;  // tells nonzeros from padding; no kernel reads it

    [[nodiscard]] Index rows() const override { return row_count; }
    [[nodiscard]] Index columns() const override { return column_count; }
    [[nodiscard]] Offset nonzeros() const override { return pattern.row_offsets.back(); }
    [[nodiscard]] std::vector<LayoutArray> arrays() const override;
    /// As bytes_to_move, but without the padding outside the matrix, which no kernel reads.
    [[nodiscard]] std::int64_t bytes_of_product() const;
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

[[nodiscard]] LayoutEntry dia_entry();

[[nodiscard]] std::vector<KernelEntry> dia_reference_kernels();
[[nodiscard]] std::vector<KernelEntry> dia_cuda_kernels();

}  // namespace workbench
