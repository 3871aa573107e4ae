// How thread blocks load neighbouring nonzeros of CSR: element by element side by side, whatever rows they belong to.
#pragma once

#include "kernels/common/schedule/walk.hpp"
#include "kernels/common/storage/offsets.hpp"

namespace workbench {

/// A block of threads with `thread_loads` nonzeros each.
template <int thread_count, int thread_loads>
struct SideBySide {
    static constexpr int threads = thread_count;
    static constexpr int loads = thread_loads;
    static constexpr int size = threads * loads;

    /// The place of the k-th nonzero that a thread loads.
    [[nodiscard]] static constexpr int place(int k, int thread) { return k * threads + thread; }
};

/// The read of a nonzero by a thread of the grid. array: the number of the value array.
[[nodiscard]] Read read_of_nonzero(const auto& csr, int array, Offset nonzero, Offset thread, std::int64_t step) {
    const Slot slot{
        .array = array, .index = nonzero, .column = csr.column_indices[nonzero], .row = piece_with(csr.row_offsets, nonzero)};
    return read_of(slot, thread, step);
}

/// Calls visit(read) for the nonzeros [begin, end) that a thread block loads.
template <typename Shape>
void walk_side_by_side(const auto& csr, Offset block, Offset begin, Offset end, const auto& visit) {
    const int array = array_number(csr, csr.values);
    for (int k = 0; k < Shape::loads; ++k) {
        for (int thread = 0; thread < Shape::threads && begin + Shape::place(k, thread) < end; ++thread) {
            visit(read_of_nonzero(csr, array, begin + Shape::place(k, thread), block * Shape::threads + thread, k));
        }
    }
}

}  // namespace workbench
