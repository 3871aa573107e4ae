// Sums of rows that cross thread blocks: the block in which a row begins carries its sum, and a second kernel adds up all that
// the blocks have carried to a row. No atomics: every run has the same result.
//
// Races: one thread of a block writes each of its carried sums; the second kernel starts after the first has ended, and one
// thread adds the carried sums to an element of y: of the warp that takes the first block that carries to the row, or, if many
// blocks do so, of that warp's thread block. Its threads add up in shared memory, with barriers between.
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
/// blocks; or as many elements of Y as there are vectors.
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

/// The warp that adds up what is carried to a row.
struct WarpOfCarries {
    static constexpr int threads = 32;
    int thread = static_cast<int>(threadIdx.x) % 32;

    /// The number of threads for which it is true.
    [[nodiscard]] __device__ __forceinline__ int count(bool is_true) const { return __popc(__ballot_sync(~0U, is_true)); }
    /// The sum over every width-th thread, for the first `width`, a power of two.
    template <typename Value>
    [[nodiscard]] __device__ __forceinline__ Value sum(Value own, int width) const {
        for (int distance = threads / 2; distance >= width; distance /= 2) own += __shfl_down_sync(~0U, own, distance);
        return own;
    }
};

/// The thread block that does so.
template <typename Value>
struct BlockOfCarries {
    static constexpr int threads = carry_threads;
    Value* sums;  // [threads], in shared memory
    int thread = static_cast<int>(threadIdx.x);

    [[nodiscard]] __device__ __forceinline__ int count(bool is_true) const { return __syncthreads_count(is_true); }
    [[nodiscard]] __device__ __forceinline__ Value sum(Value own, int width) const {
        sums[thread] = own;
        for (int distance = threads / 2; distance >= width; distance /= 2) {
            __syncthreads();
            if (thread < distance) sums[thread] += sums[thread + distance];
        }
        own = sums[thread];
        __syncthreads();
        return own;
    }
};

/// Adds to y what the blocks [begin, end) have carried to a row. The threads of a team take neighbouring elements of the sums
/// of a block, and as many blocks at a time as there are threads for.
template <typename Value>
__device__ __forceinline__ void add_carries(Index row, int begin, int end, const Value* __restrict__ carried, int height,
                                            Value* __restrict__ y, Offset size_of_y, const auto& team) {
    int width = 1;
    while (width < height && width < 32) width *= 2;
    for (int first = 0; first < height; first += width) {
        const int r = first + team.thread % width;
        const Offset element = Offset{row} * height + r;
        const bool has_sum = team.thread < width && r < height && element < size_of_y;
        const Value before = has_sum ? y[element] : Value{0};  // so early that it arrives with the carried sums
        Value sum = 0;
        if (r < height) {
#pragma unroll 4
            for (int i = begin + team.thread / width; i < end; i += team.threads / width) {
                sum += carried[static_cast<Offset>(i) * height + r];
            }
        }
        sum = team.sum(sum, width);
        if (has_sum) y[element] = before + sum;
    }
}

/// Each warp takes a block. If it is the first that carries to a row, the warp adds up all that is carried to that row, or, if
/// that is more than 32 blocks, the warps of its thread block do so together. carried_rows: [count]; carried: [count * height].
/// known_height: the height, or 0 if it is known at run time.
template <int known_height, typename Value>
__global__ void __launch_bounds__(carry_threads)
    add_carried(const Index* __restrict__ carried_rows, const Value* __restrict__ carried, int count, int height_at_run_time,
                Value* __restrict__ y, Offset size_of_y) {
    constexpr bool is_known = known_height > 0;
    const int height = is_known ? known_height : height_at_run_time;
    __shared__ Value sums[carry_threads];
    __shared__ Index long_row;
    __shared__ int begin_of_long_row;
    const WarpOfCarries warp;
    const int own = (static_cast<int>(blockIdx.x) * carry_threads + static_cast<int>(threadIdx.x)) / 32;
    // These loads do not depend on each other.
    const Index of_lane = own + warp.thread < count ? carried_rows[own + warp.thread] : -1;
    const Index before = own > 0 && own < count ? carried_rows[own - 1] : -1;
    const Index behind = own + 32 < count ? carried_rows[own + 32] : -1;
    const Index row = __shfl_sync(~0U, of_lane, 0);
    const bool is_first = row >= 0 && row != before;
    const bool is_long = is_first && row == behind;
    const int blocks = warp.count(of_lane == row);
    if (is_first && !is_long) add_carries(row, own, own + blocks, carried, height, y, size_of_y, warp);
    if (is_long && warp.thread == 0) {  // in one of the warps, because the blocks of the others carry to this row, too
        long_row = row;
        begin_of_long_row = own;
    }
    if (__syncthreads_or(static_cast<int>(is_long)) == 0) return;
    const BlockOfCarries<Value> team{sums};
    const int begin = begin_of_long_row;
    int end = begin + 32;
    for (int more = team.threads; more == team.threads; end += more) {
        const int next = end + team.thread;
        more = team.count(next < count && carried_rows[next] == long_row);
    }
    add_carries(long_row, begin, end, carried, height, y, size_of_y, team);
}

#ifndef __CUDACC_RTC__

/// The memory of carried sums. blocks: those that may carry, all but the last.
template <ValueType Value>
class Carries {
public:
    Carries(Device& device, Offset blocks, int height, const std::string& of)
        : of_(of),
          blocks_(std::max<Offset>(blocks, 0)),
          height_(height),
          rows_(device.allocate(blocks_ * sizeof(Index), of + " carried rows")),
          sums_(device.allocate(blocks_ * height * sizeof(Value), of + " carried sums")) {}

    template <int height = 1>
    [[nodiscard]] Carried<Value, height> view() const {
        return {rows_.template as<Index>(), sums_.template as<Value>()};
    }

    /// Adds the carried sums to y, after the kernel that carries on the same stream.
    void add_to(Value* y, Offset size_of_y, cudaStream_t stream) const {
        if (blocks_ == 0) return;
        const auto kernel = height_ == 1 ? add_carried<1, Value> : add_carried<0, Value>;
        kernel<<<blocks_for(32 * blocks_, carry_threads), carry_threads, 0, stream>>>(
            rows_.as<Index>(), sums_.as<Value>(), static_cast<int>(blocks_), height_, y, size_of_y);
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
    int height_;
    DeviceMemory rows_;
    DeviceMemory sums_;
};

#endif

}  // namespace workbench
