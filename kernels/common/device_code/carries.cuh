// Sums of rows that cross thread blocks: the block in which a row begins carries its sum, and a second kernel adds up all that
// the blocks have carried to a row. No atomics: every run has the same result.
//
// Races: one thread of a block writes its carried sum; the second kernel starts after the first has ended, and one lane adds
// the carried sums to y: a lane of the warp of the first block that carries to the row. No other thread writes y meanwhile.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "core/contract/precision.hpp"
#include "kernels/common/device_code/sums.cuh"
#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_device.cuh"

namespace workbench {

inline constexpr int carry_threads = 256;

/// For the kernel that carries; every block calls one of the functions. A row is `height` rows of y together, as in formats of
/// blocks.
template <typename Value, int height = 1>
struct Carried {
    Index* rows = nullptr;  // [blocks] the row that continues in the next block, -1: none
    Value* sums = nullptr;  // [blocks * height] its sums in this block

    __device__ __forceinline__ void nothing(Offset block) const { rows[block] = -1; }
    __device__ __forceinline__ void carry(Offset block, Index row, const Value (&open)[height]) const {
        rows[block] = row;
#pragma unroll
        for (int r = 0; r < height; ++r) sums[block * height + r] = open[r];
    }
};

/// Each warp takes a block: if it is the first that carries to a row, the warp adds up all that is carried to that row.
/// carried_rows: [count]; carried: [count * height].
template <int height, typename Value>
__global__ void __launch_bounds__(carry_threads)
    add_carried(const Index* __restrict__ carried_rows, const Value* __restrict__ carried, int count, Value* __restrict__ y,
                Index row_count) {
    const int number = static_cast<int>((static_cast<Offset>(blockIdx.x) * carry_threads + threadIdx.x) / 32);
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if (number >= count) return;
    const Index row = carried_rows[number];
    if (row < 0 || (number > 0 && carried_rows[number - 1] == row)) return;
    Value sums[height] = {};
    for (int i = number + lane; i < count && carried_rows[i] == row; i += 32) {
#pragma unroll
        for (int r = 0; r < height; ++r) sums[r] += carried[static_cast<Offset>(i) * height + r];
    }
#pragma unroll
    for (int r = 0; r < height; ++r) {
        const Value sum = sum_over_warp(sums[r]);
        const Offset row_of_y = Offset{row} * height + r;
        if (lane == 0 && row_of_y < row_count) y[row_of_y] += sum;
    }
}

#ifndef __CUDACC_RTC__

/// The memory of carried sums. blocks: those that may carry, all but the last.
template <ValueType Value>
class Carries {
public:
    Carries(Device& device, Offset blocks, int height, const std::string& of)
        : of_(of),
          blocks_(std::max<Offset>(blocks, 0)),
          rows_(device.allocate(blocks_ * sizeof(Index), of + " carried rows")),
          sums_(device.allocate(blocks_ * height * sizeof(Value), of + " carried sums")) {}

    template <int height = 1>
    [[nodiscard]] Carried<Value, height> view() const {
        return {rows_.template as<Index>(), sums_.template as<Value>()};
    }

    /// Adds the carried sums to y, after the kernel that carries on the same stream.
    template <int height = 1>
    void add_to(Value* y, Index row_count, cudaStream_t stream) const {
        if (blocks_ == 0) return;
        add_carried<height><<<blocks_for(32 * blocks_, carry_threads), carry_threads, 0, stream>>>(
            rows_.as<Index>(), sums_.as<Value>(), static_cast<int>(blocks_), y, row_count);
        check_launch(of_.c_str());
    }

    /// The bytes that a product moves: each sum is written and read once.
    [[nodiscard]] static std::int64_t bytes(Offset blocks, int height) {
        return 2 * std::max<Offset>(blocks, 0) *
               (std::int64_t{sizeof(Index)} + height * static_cast<std::int64_t>(sizeof(Value)));
    }

private:
    std::string of_;
    Offset blocks_;
    DeviceMemory rows_;
    DeviceMemory sums_;
};

#endif

}  // namespace workbench
