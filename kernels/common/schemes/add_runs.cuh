// The product of triplets on a GPU with fewer atomic additions than triplets: a warp sums up each of its rows before it adds.
// Threads with nonzeros of one row add to it atomically, so that they cannot race in global memory.
#pragma once

#include "kernels/common/device_code/target_rows.cuh"
#include "kernels/common/schedule/rows_kernel.cuh"
#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_device.cuh"

namespace workbench {

/// One thread a triplet. The lanes of a warp that hold one row are neighbours; they sum up first and add once.
template <Schedule S, typename Arrays, typename Value>
__global__ void __launch_bounds__(row_threads)
    add_runs(const __grid_constant__ Arrays arrays, TargetRows target, const Value* __restrict__ x, Value* __restrict__ y) {
    constexpr unsigned all_lanes = ~0u;
    const int lane = static_cast<int>(threadIdx.x % 32);
    const auto load = loads_of_block(slot_values<S>(arrays));
    // Threads past the last triplet have row -1, and take part in the shuffles.
    const Offset thread = static_cast<Offset>(blockIdx.x) * row_threads + threadIdx.x;
    const auto run = S::run(arrays, thread, load);
    Index row = -1;
    Value sum = 0;
    if (run.row >= 0) {
        row = row_of_run<S>(arrays, run, load);
        sum = multiply_run<S>(arrays, run, x, load);
    }
    // Before each round, a lane holds the sum over its row in the next `distance` lanes.
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        const Value further = __shfl_down_sync(all_lanes, sum, distance);
        const Index row_of_it = __shfl_down_sync(all_lanes, row, distance);
        if (lane + distance < 32 && row_of_it == row) sum += further;
    }
    const Index row_before = __shfl_up_sync(all_lanes, row, 1);
    if (row >= 0 && (lane == 0 || row_before != row)) atomicAdd(y + target[row], sum);
}

/// y += A x.
template <Schedule S, typename Value>
void launch_runs(const auto& view, TargetRows target, const Value* x, Value* y, cudaStream_t stream, const char* name) {
    const Offset count = S::threads(view);
    if (count == 0) return;
    const unsigned bytes = bytes_of_dictionary(slot_values<S>(view));
    add_runs<S><<<blocks_for(count, row_threads), row_threads, bytes, stream>>>(view, target, x, y);
    check_launch(name);
}

}  // namespace workbench
