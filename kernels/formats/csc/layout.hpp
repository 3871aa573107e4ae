// Compressed sparse columns: x is read once, in order; each nonzero adds to its row of y.
// Source: Wikberg, "Unstructured mesh FVM with GPU" (2025), section 4.2.3, "Compressed Sparse Row/Column Format".
#pragma once

#include "kernels/common/schedule/choice.hpp"
#include "kernels/common/schedule/run.hpp"
#include "kernels/common/storage/stored_layout.hpp"

namespace workbench {

template <typename Value, template <typename> typename Array>
struct Csc : MatrixSize {
    Array<Offset> column_offsets;
    Array<Index> row_indices;  // ascending within a column
    Array<Value> values;

    static constexpr auto fields() {
        return field_list(MatrixSize::fields(), structure_array<&Csc::column_offsets>("columns + 1"),
                          structure_array<&Csc::row_indices>("nonzeros"), value_array<&Csc::values>("nonzeros"));
    }
};

/// `column_lanes` threads share a column and its x: lane l takes the entries l, l + column_lanes, ..., so that
/// neighbouring lanes read neighbouring entries. Run::row is the column.
template <int column_lanes>
struct CscLanes final : ScheduleBase<Hooks{.lanes = column_lanes}> {
    static constexpr Offset threads(const auto& csc) { return Offset{csc.column_count} * column_lanes; }
    static constexpr Run<Known<column_lanes>> run(const auto& csc, Offset thread, const auto&) {
        const Offset column = thread / column_lanes;
        if (column >= csc.column_count) return {};
        return run_of_lane<column_lanes>(static_cast<Index>(column), csc.column_offsets[column], csc.column_offsets[column + 1],
                                         static_cast<int>(thread % column_lanes));
    }
};

/// Calls use(schedule): 1 to 32 threads per column, by the mean column length.
auto with_csc_columns(const auto& csc, const auto& use) {
    return with_lanes<1>(lanes_for(csc.column_count, static_cast<Offset>(csc.values.size())),
                         [&](auto lanes) { return use(CscLanes<lanes>{}); });
}

template <ValueType Value>
struct CscLayout final : StoredLayout<Value, Csc<Value, HostArray>> {
    static constexpr const char* name = "csc";
    // The row offsets of the matrix, for the walk over the slots. No kernel reads them, and they do not count in the footprint.
    HostArray<Offset> row_offsets{0};  // [rows + 1]
    void transfer(Transfer& all) override { this->transfer_with(all, row_offsets); }
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

/// The CUDA kernel `columns`.
template <ValueType Value>
class CscKernel;

[[nodiscard]] LayoutEntry csc_entry();

}  // namespace workbench
