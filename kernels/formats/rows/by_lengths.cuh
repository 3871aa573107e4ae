// Sliced ELL on a GPU by the lengths of the rows, with one thread per row and whole blocks for long rows (long_rows.hpp), all
// in one launch.
//
// Races. One thread writes each row of y: that of the row, or the first of the block that has all of it. The threads of a block
// write to places of their own in shared memory before a barrier, and one reads these after it. The sums of a row of several
// blocks have places of their own in global memory, which a kernel reads that starts after the first.
#pragma once

#include "kernels/common/device_code/loads.cuh"
#include "kernels/common/device_code/sparse_dot.cuh"
#include "kernels/common/schedule/rows_kernel.cuh"
#include "kernels/formats/rows/long_rows.hpp"

namespace workbench::sell_by_lengths {

/// The sum over the threads of a block, in the first of them.
template <typename Value>
__device__ Value sum_over_block(Value sum) {
    constexpr int warps = threads_of_sell_block / 32;
    __shared__ Value sums[warps];
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(~0u, sum, distance);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x != 0) return sum;
    for (int warp = 1; warp < warps; ++warp) sum += sums[warp];
    return sum;
}

template <typename Rows, typename Sell, typename Value>
__global__ void __launch_bounds__(threads_of_sell_block, Rows::resident_blocks)
    multiply_by_lengths(const __grid_constant__ Sell sell, TargetRows target, const Value* __restrict__ x,
                        Value* __restrict__ y, Value* __restrict__ sums, bool accumulate) {
    const auto parts = static_cast<unsigned>(sell.parts.size());
    const auto load = loads_of_block(sell.values);
    if (blockIdx.x >= parts) {
        const auto run = Rows::run_of_row(sell, Offset{blockIdx.x - parts} * threads_of_sell_block + threadIdx.x);
        if (run.row < 0) return;
        const Value sum = multiply_run<Rows>(sell, run, x, load);
        write_result(y + target[run.row], sum, accumulate);
        return;
    }
    const SellPart part = sell.parts[blockIdx.x];
    const auto run = Rows::run_of_part(sell, part, static_cast<int>(threadIdx.x));
    const Value sum = sum_over_block(multiply_run<Rows>(sell, run, x, load));
    if (threadIdx.x != 0) return;
    if (part.sum >= 0) {
        sums[part.sum] = sum;
    } else {
        write_result(y + target[part.row], sum, accumulate);
    }
}

}  // namespace workbench::sell_by_lengths
