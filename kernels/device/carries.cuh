// Sums that the blocks of a kernel leave open: a row that goes on in the next block has its sum carried there, and a second
// kernel adds up what all blocks have carried to a row. No atomics: the same result in every run.
//
// Races. What a block carries is written by one of its threads; the second kernel starts after the first has ended, and all
// that is carried to a row is added by one lane, of the warp of the first block that carries to it. Nobody else writes y
// meanwhile.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_device.cuh"
#include "kernels/device/sums.cuh"

namespace workbench {

inline constexpr int carry_threads = 256;

/// For the kernel that carries. A row is `height` rows of y together, as in formats of blocks. Every block says what it
/// carries.
template <typename Value, int height = 1>
struct Carried {
    Index* rows = nullptr;  // [blocks] the row that goes on in the next block, -1: none
    Value* sums = nullptr;  // [blocks * height] its sums in this block

    __device__ __forceinline__ void nothing(Offset block) const { rows[block] = -1; }
    __device__ __forceinline__ void carry(Offset block, Index row, const Value (&open)[height]) const {
        rows[block] = row;
#pragma unroll
        for (int r = 0; r < height; ++r) sums[block * height + r] = open[r];
    }
};

/// A warp a block: where the block is the first that carries something to a row, all that is carried to it. carried_rows:
/// [count]; carried: [count * height].
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

/// To be launched behind the blocks, on their stream. of: what the error names. row_count: of y, where rows are several of y.
template <int height = 1, typename Value>
void launch_add_carried(const Index* carried_rows, const Value* carried, Offset count, Value* y, cudaStream_t stream,
                        const char* of, Index row_count = std::numeric_limits<Index>::max()) {
    add_carried<height><<<blocks_for(32 * count, carry_threads), carry_threads, 0, stream>>>(
        carried_rows, carried, static_cast<int>(count), y, row_count);
    check_launch(of);
}

/// The memory for it. blocks: those that may carry, all but the last.
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

    /// After the kernel that carries.
    template <int height = 1>
    void add_to(Value* y, Index row_count, cudaStream_t stream) const {
        if (blocks_ == 0) return;
        launch_add_carried<height>(rows_.as<Index>(), sums_.as<Value>(), blocks_, y, stream, of_.c_str(), row_count);
    }

    /// That a product moves: written once, read once.
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

}  // namespace workbench
