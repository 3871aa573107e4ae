// A row in jagged diagonals times x, on a GPU.
#pragma once

#include "kernels/common/device_code/target_rows.cuh"
#include "kernels/common/schedule/rows_kernel.cuh"
#include "kernels/common/schemes/jagged.hpp"
#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_device.cuh"

namespace workbench {

/// Like multiply_run, but finds the end of the row while reading it. Fast if neighbouring lanes have neighbouring places of a
/// group.
template <Schedule S, typename Value, typename Load>
__device__ __forceinline__ Value multiply_run(const auto& jagged, const JaggedRow& row, const Value* __restrict__ x,
                                              const Load& load) {
    constexpr int in_flight = S::entries_in_flight;
    const Value* const x_of_row = x + row.first_column;
    Value sum = 0;
    bool more = row.first_diagonal < row.end_diagonal;
    for (Offset diagonal = row.first_diagonal; more; diagonal += in_flight) {
        Value value[in_flight];
        Index column[in_flight];
        bool reached[in_flight];
#pragma unroll
        for (int u = 0; u < in_flight; ++u) {
            const DiagonalSlot at = slot_on_diagonal(jagged.diagonal_offsets, row, diagonal + u);
            reached[u] = at.reached;
            if (at.reached) {
                value[u] = load(jagged.values.data() + at.slot);
                column[u] = load(jagged.column_indices.data() + at.slot);
            }
        }
#pragma unroll
        for (int u = 0; u < in_flight; ++u) {
            if (reached[u]) sum += value[u] * x_of_row[column[u]];
        }
        more = reached[in_flight - 1] && diagonal + in_flight < row.end_diagonal;
    }
    return sum;
}

}  // namespace workbench
