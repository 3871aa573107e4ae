// COO, the coordinate list: a row, a column and a value for each nonzero, row by row.
// Source: Bell, Garland, "Implementing sparse matrix-vector multiplication on throughput-oriented processors" (2009).
#pragma once

#include "kernels/common/storage/triplets.hpp"

namespace workbench {

template <typename Value, template <typename> typename Array>
struct Coo : Triplets<Value, Array> {
    template <template <typename> typename Other>
    using In = Coo<Value, Other>;

    Index row_count = 0;
    Index column_count = 0;

    static constexpr void fields(const auto& visit, auto&... of) {
        visit(ArrayRole::number, "row_count", of.row_count...);
        visit(ArrayRole::number, "column_count", of.column_count...);
        Triplets<Value, Array>::fields(visit, of...);
    }
};

template <ValueType Value>
struct CooLayout final : StoredLayout<Value, Coo<Value, HostArray>> {
    static constexpr const char* name = "coo";
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

[[nodiscard]] LayoutEntry coo_entry();
[[nodiscard]] std::vector<KernelEntry> coo_cuda_kernels();

}  // namespace workbench
