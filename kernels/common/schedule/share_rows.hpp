// Schedules over the rows of a share: a layout that holds some rows of a matrix, and the list of these rows. Any kernel of a
// schedule can so write to those rows of y.
#pragma once

#include "kernels/common/schedule/run.hpp"
#include "kernels/common/storage/array_view.hpp"

namespace workbench {

/// Views, which kernels take by value.
template <typename Arrays>
struct ShareArrays {
    Arrays own;
    ArrayView<Index> rows;  // [rows of the layout] of the whole matrix
};

/// The arrays of the layout, of a share or not.
[[nodiscard]] constexpr const auto& layout_arrays(const auto& arrays) {
    if constexpr (requires { arrays.own; }) {
        return arrays.own;
    } else {
        return arrays;
    }
}

/// The hooks of ShareRows: row_of reads the list of rows.
template <Schedule Own>
constexpr Hooks share_hooks() {
    Hooks hooks = Own::hooks;
    hooks.own_values = true;
    hooks.own_columns = !hooks.own_column || hooks.own_has_plain_columns;
    hooks.own_row_of = true;
    return hooks;
}

template <Schedule Own>
struct ShareRows final : ScheduleBase<share_hooks<Own>()> {
    static constexpr Offset threads(const auto& arrays) { return Own::threads(arrays.own); }
    static constexpr auto run(const auto& arrays, Offset thread, const auto& load) {
        return Own::run(arrays.own, thread, load);
    }
    static constexpr Offset threads_side_by_side(const auto& arrays) requires(Own::side_by_side != AdjacentRuns::none) {
        return Own::threads_side_by_side(arrays.own);
    }
    static constexpr const auto& values(const auto& arrays) { return slot_values<Own>(arrays.own); }
    static constexpr const auto& columns(const auto& arrays) requires(share_hooks<Own>().own_columns) {
        return slot_columns<Own>(arrays.own);
    }
    static constexpr Index column(const auto& arrays, const auto& run, const RunSlot& place,
                                  const auto& load) requires(Own::hooks.own_column) {
        return Own::column(arrays.own, run, place, load);
    }
    static constexpr bool has_plain_columns(const auto& run) requires(Own::hooks.own_has_plain_columns) {
        return Own::has_plain_columns(run);
    }
    static constexpr Index row_of(const auto& arrays, const auto& run, const auto& load) {
        return load(arrays.rows.data() + row_of_run<Own>(arrays.own, run, load));
    }
};

}  // namespace workbench
