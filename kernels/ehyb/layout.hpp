// EHYB: sliced ELL with x cached by partition, and extra rows for what lies outside.
// Source: Chen, "Explicit caching HYB: a new high-performance SpMV framework on GPGPU".
#pragma once

#include <cstdint>
#include <variant>

#include "kernels/common/slices.hpp"

namespace workbench {

/// Two sliced ELLs, one for each share.
///  - inside: one group of slices for each partition; lane l of the j-th slice of partition p is row
///    partition_rows[p] + 32 j + l. Columns are relative to partition_columns[p], the start of the slice of x that a block
///    caches.
///  - outside: one group over the rows present in share `outside`, in that share's order; stored row i adds to row
///    outside_rows[i] (the paper's yIdxER). Columns are those of the matrix.
template <ValueType Value>
struct EhybLayout final : Layout<Value> {
    Index row_count = 0;
    Index column_count = 0;
    Offset nonzero_count = 0;
    std::vector<Index> partition_rows{0};     // [partitions + 1]
    std::vector<Index> partition_columns{0};  // [partitions + 1]
    std::variant<Slices<Value, std::uint16_t>, Slices<Value, Index>> inside;
    Slices<Value, Index> outside;
    std::vector<Index> outside_rows;  // [rows present outside]

    [[nodiscard]] Index partition_count() const { return static_cast<Index>(partition_rows.size()) - 1; }

    [[nodiscard]] Index rows() const override { return row_count; }
    [[nodiscard]] Index columns() const override { return column_count; }
    [[nodiscard]] Offset nonzeros() const override { return nonzero_count; }
    [[nodiscard]] std::vector<LayoutArray> arrays() const override;
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

[[nodiscard]] LayoutEntry ehyb_entry();

[[nodiscard]] std::vector<KernelEntry> ehyb_reference_kernels();
[[nodiscard]] std::vector<KernelEntry> ehyb_cuda_kernels();

}  // namespace workbench
