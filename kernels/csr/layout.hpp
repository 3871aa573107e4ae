// Compressed sparse rows: the layout everything is compared with.
#pragma once

#include "kernels/common/schedule/run.hpp"
#include "kernels/common/storage/fields.hpp"

namespace workbench {

/// The matrix as it flows through the pipeline, in the layout's precision.
template <typename Value, template <typename> typename Array>
struct Csr {
    template <template <typename> typename Other>
    using In = Csr<Value, Other>;

    Index row_count = 0;
    Index column_count = 0;
    Array<Offset> row_offsets;    // [rows + 1]
    Array<Index> column_indices;  // [nonzeros]
    Array<Value> values;          // [nonzeros]

    static constexpr void fields(const auto& visit, auto&... of) {
        visit(ArrayRole::number, "row_count", of.row_count...);
        visit(ArrayRole::number, "column_count", of.column_count...);
        visit(ArrayRole::structure, "row_offsets [rows + 1]", of.row_offsets...);
        visit(ArrayRole::column, "column_indices [nonzeros]", of.column_indices...);
        visit(ArrayRole::value, "values [nonzeros]", of.values...);
    }
};

/// Of the CUDA kernel `vector`: 2 to 32 threads a row, by the mean row length.
struct CsrVector {
    static auto choose(const auto& arrays, const auto& use) {
        constexpr int least = 2;
        return with_lanes<least>(lanes_for(arrays.row_count, static_cast<Offset>(arrays.values.size()), least),
                                 [&](auto lanes) { return use(CompressedRows<lanes>{}); });
    }
};

template <ValueType Value>
struct CsrLayout final : StoredLayout<Value, Csr<Value, HostArray>> {
    static constexpr const char* name = "csr";
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

[[nodiscard]] LayoutEntry csr_entry();

/// What the CUDA kernels read that have loops of their own.
[[nodiscard]] std::vector<ScheduleEntry> csr_tile_schedules();

// The kernels, by the file that defines them. Those of a backend that is not built are never called.
[[nodiscard]] std::vector<KernelEntry> csr_eigen_kernels();
[[nodiscard]] std::vector<KernelEntry> csr_cuda_kernels();
[[nodiscard]] std::vector<KernelEntry> csr_adaptive_kernels();
[[nodiscard]] std::vector<KernelEntry> csr_merge_kernels();
[[nodiscard]] std::vector<KernelEntry> csr_cusparse_kernels();

}  // namespace workbench
