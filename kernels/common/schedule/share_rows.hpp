// A schedule over the rows of a share: the arrays of a layout that holds some rows of a matrix, and which rows these are. The
// kernels of any schedule then write to those rows of y, without a line for it in any format.
#pragma once

#include "kernels/common/schedule/run.hpp"
#include "kernels/common/storage/fields.hpp"

namespace workbench {

/// Views, which kernels take by value.
template <typename Arrays>
struct ShareArrays {
    Arrays own;
    ArrayView<Index> rows;  // [rows of the layout] of the whole matrix
};

/// What is no function of the arrays is as in the schedule itself.
template <typename Own>
struct ShareRows : Own {
    static constexpr Offset threads(const auto& arrays) { return Own::threads(arrays.own); }
    static constexpr auto run(const auto& arrays, Offset thread, const auto& load) {
        return run_of_thread<Own>(arrays.own, thread, load);
    }
    static constexpr const auto& values(const auto& arrays) { return Own::values(arrays.own); }
    static constexpr const auto& columns(const auto& arrays) { return Own::columns(arrays.own); }
    static constexpr Index column(const auto& arrays, const auto& run, const RunSlot& place,
                                  const auto& load) requires has_own_column<Own, decltype(arrays.own), decltype(run)> {
        return Own::column(arrays.own, run, place, load);
    }
    static constexpr Index row_of(const auto& arrays, const auto& run, const auto& load) {
        return load(arrays.rows.data() + Own::row_of(arrays.own, run, load));
    }
};

}  // namespace workbench
