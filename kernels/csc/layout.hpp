// Compressed sparse columns: x is read once, in order; y is added to wherever a column has a nonzero.
// Source: Wikberg, "Unstructured mesh FVM with GPU" (2025), section 4.2.3, "Compressed Sparse Row/Column Format".
#pragma once

#include "kernels/common/schedule/run.hpp"
#include "kernels/common/storage/fields.hpp"

namespace workbench {

/// The column of a nonzero follows from its place; its row is stored.
template <typename Value, template <typename> typename Array>
struct Csc {
    template <template <typename> typename Other>
    using In = Csc<Value, Other>;

    Index row_count = 0;
    Index column_count = 0;
    Array<Offset> column_offsets;  // [columns + 1]
    Array<Index> row_indices;      // [nonzeros]; ascending within a column
    Array<Value> values;           // [nonzeros]

    static constexpr void fields(const auto& visit, auto&... of) {
        visit(ArrayRole::number, "row_count", of.row_count...);
        visit(ArrayRole::number, "column_count", of.column_count...);
        visit(ArrayRole::structure, "column_offsets [columns + 1]", of.column_offsets...);
        visit(ArrayRole::structure, "row_indices [nonzeros]", of.row_indices...);
        visit(ArrayRole::value, "values [nonzeros]", of.values...);
    }
};

/// `lanes` threads share a column and its x: lane l takes the entries l, l + lanes, ... of it, so that neighbouring lanes read
/// neighbouring entries. The row of a run is a column here.
template <int column_lanes>
struct CscLanes {
    static constexpr int lanes = column_lanes;

    static constexpr Offset threads(const auto& csc) { return Offset{csc.column_count} * lanes; }
    static constexpr Run<Known<lanes>> run(const auto& csc, Offset thread) {
        const Offset column = thread / lanes;
        if (column >= csc.column_count) return {};
        return run_of_lane<lanes>(static_cast<Index>(column), csc.column_offsets[column], csc.column_offsets[column + 1],
                                  static_cast<int>(thread % lanes));
    }
};

/// 1 to 32 threads a column, by the mean column length.
auto with_csc_columns(const auto& csc, const auto& use) {
    return with_lanes<1>(lanes_for(csc.column_count, static_cast<Offset>(csc.values.size())),
                         [&](auto lanes) { return use(CscLanes<lanes>{}); });
}

template <ValueType Value>
struct CscLayout final : StoredLayout<Value, Csc<Value, HostArray>> {
    // The row offsets of the matrix that it was built from. No kernel reads them and they are no part of the footprint: they
    // tell which nonzero a slot holds.
    HostArray<Offset> row_offsets{0};  // [rows + 1]
    void transfer(Transfer& all) override { this->transfer_with(all, row_offsets); }
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

[[nodiscard]] LayoutEntry csc_entry();
[[nodiscard]] std::vector<KernelEntry> csc_cuda_kernels();

}  // namespace workbench
