// What blocks leave open of a row whose end another block has and writes: added to y by a second kernel, without atomics.
#pragma once

#include "kernels/common/device/cuda_check.cuh"
#include "kernels/common/device/cuda_device.cuh"
#include "kernels/common/device/sums.cuh"

namespace workbench {

inline constexpr int carry_threads = 256;

/// A warp a block: where the block is the first that carries something to a row, all that is carried to it. carried_rows:
/// [count] the row that goes on in the next block, -1: none. carried: [count] its sum in this block.
template <typename Value>
__global__ void __launch_bounds__(carry_threads)
    add_carried(const Index* __restrict__ carried_rows, const Value* __restrict__ carried, int count, Value* __restrict__ y) {
    const int number = static_cast<int>((blockIdx.x * carry_threads + threadIdx.x) / 32);
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if (number >= count) return;
    const Index row = carried_rows[number];
    if (row < 0 || (number > 0 && carried_rows[number - 1] == row)) return;
    Value sum = 0;
    for (int i = number + lane; i < count && carried_rows[i] == row; i += 32) sum += carried[i];
    sum = sum_over_warp(sum);
    if (lane == 0) y[row] += sum;
}

/// To be launched behind the blocks, on their stream. of: what the error names.
template <typename Value>
void launch_add_carried(const Index* carried_rows, const Value* carried, Offset count, Value* y, cudaStream_t stream,
                        const char* of) {
    add_carried<<<blocks_for(32 * count, carry_threads), carry_threads, 0, stream>>>(carried_rows, carried,
                                                                                     static_cast<int>(count), y);
    check_launch(of);
}

}  // namespace workbench
