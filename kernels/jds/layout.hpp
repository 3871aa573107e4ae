// JDS (JAD): jagged diagonals over all rows in their current order, which must be one of descending length.
// Source: Saad, "Krylov subspace methods on supercomputers" (1989); the kernels after Nagasaka, "Exploiting GPU caches in
// sparse matrix vector multiplication" (slides), and Li and Saad, "GPU-accelerated preconditioned iterative linear solvers"
// (2012).
#pragma once

#include "kernels/common/storage/jagged.hpp"

namespace workbench {

/// One group of jagged diagonals over all rows: row i is stored row i. Columns are those of the matrix. The array of the
/// permutation that the literature counts to the format is the row order here, which stage row_sort makes.
template <ValueType Value>
struct JdsLayout final : Layout<Value> {
    Index row_count = 0;
    Index column_count = 0;
    Offset nonzero_count = 0;
    Jagged<Value, Index> jagged;

    [[nodiscard]] Index rows() const override { return row_count; }
    [[nodiscard]] Index columns() const override { return column_count; }
    [[nodiscard]] Offset nonzeros() const override { return nonzero_count; }
    [[nodiscard]] std::vector<LayoutArray> arrays() const override;
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

[[nodiscard]] LayoutEntry jds_entry();

[[nodiscard]] std::vector<KernelEntry> jds_reference_kernels();
[[nodiscard]] std::vector<KernelEntry> jds_cuda_kernels();

}  // namespace workbench
