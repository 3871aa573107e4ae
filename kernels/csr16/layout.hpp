// CSR with columns of 16 bits, counted from the first nonzero of their row: 2 bytes a nonzero less to move, where no row
// reaches over more than 65536 columns.
#pragma once

#include "kernels/common/schedule/run.hpp"
#include "kernels/common/storage/fields.hpp"

namespace workbench {

template <typename Value, template <typename> typename Array>
struct Csr16 {
    template <template <typename> typename Other>
    using In = Csr16<Value, Other>;

    Index row_count = 0;
    Index column_count = 0;
    Array<Offset> row_offsets;                // [rows + 1]
    Array<Index> first_columns;               // [rows] 0 in a row without nonzeros
    Array<std::uint16_t> columns_from_first;  // [nonzeros] the column minus the first one of its row
    Array<Value> values;                      // [nonzeros]

    static constexpr void fields(const auto& visit, auto&... of) {
        visit(ArrayRole::number, "row_count", of.row_count...);
        visit(ArrayRole::number, "column_count", of.column_count...);
        visit(ArrayRole::structure, "row_offsets [rows + 1]", of.row_offsets...);
        visit(ArrayRole::structure, "first_columns [rows]", of.first_columns...);
        visit(ArrayRole::column, "columns_from_first [nonzeros]", of.columns_from_first...);
        visit(ArrayRole::value, "values [nonzeros]", of.values...);
    }
};

/// `lanes` threads share a row.
template <int lanes>
struct Csr16Rows : CompressedRows<lanes> {
    static constexpr auto run(const auto& arrays, Offset thread, const auto& load) {
        auto run = CompressedRows<lanes>::run(arrays, thread, load);
        if (run.row >= 0) run.first_column = load.kept(arrays.first_columns.data() + run.row);
        return run;
    }
    static constexpr const auto& columns(const auto& arrays) { return arrays.columns_from_first; }
};

using Csr16Lanes = Csr16Rows<8>;  // of the CUDA kernel `lanes`

template <ValueType Value>
struct Csr16Layout final : StoredLayout<Value, Csr16<Value, HostArray>> {
    static constexpr const char* name = "csr16";
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

[[nodiscard]] LayoutEntry csr16_entry();
[[nodiscard]] std::vector<KernelEntry> csr16_cuda_kernels();

}  // namespace workbench
