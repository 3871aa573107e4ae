// CSR with columns of 16 bits, counted from the first nonzero of their row: 2 bytes a nonzero less to move, where no row
// reaches over more than 65536 columns.
#pragma once

#include <vector>

#include "pipeline/contract/layout.hpp"

namespace workbench {

/// row_offsets [rows + 1]; first_columns [rows], 0 in a row without nonzeros; columns_from_first [nonzeros]: the column minus
/// the first one of its row; values [nonzeros].
template <ValueType Value>
struct Csr16Layout final : Layout<Value> {
    Index row_count = 0;
    Index column_count = 0;
    std::vector<Offset> row_offsets{0};
    std::vector<Index> first_columns;
    std::vector<std::uint16_t> columns_from_first;
    std::vector<Value> values;

    [[nodiscard]] Index rows() const override { return row_count; }
    [[nodiscard]] Index columns() const override { return column_count; }
    [[nodiscard]] Offset nonzeros() const override { return row_offsets.back(); }
    [[nodiscard]] std::vector<LayoutArray> arrays() const override;
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

/// Threads that share a row on a GPU.
inline constexpr int csr16_lanes = 8;

[[nodiscard]] LayoutEntry csr16_entry();

[[nodiscard]] std::vector<KernelEntry> csr16_reference_kernels();
[[nodiscard]] std::vector<KernelEntry> csr16_cuda_kernels();

}  // namespace workbench
