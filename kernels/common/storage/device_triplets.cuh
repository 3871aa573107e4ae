// Triplets in the memory of a GPU, and the kernels that add their products into y. The nonzeros of a row are spread over
// threads: these add to it atomically, so that they cannot race in global memory.
#pragma once

#include <string>

#include "kernels/common/device/cuda_check.cuh"
#include "kernels/common/device/cuda_device.cuh"
#include "kernels/common/storage/triplets.hpp"

namespace workbench {

/// What a kernel sees of Triplets; passed by value.
template <typename Value>
struct TripletView {
    Offset count = 0;
    const Index* rows = nullptr;
    const Index* columns = nullptr;
    const Value* values = nullptr;
};

/// Owns the copy.
template <ValueType Value>
class DeviceTriplets {
public:
    DeviceTriplets(Device& device, const Triplets<Value>& triplets, const std::string& of)
        : count_(triplets.count()),
          rows_(to_device(device, std::span(triplets.rows), of + " row indices")),
          columns_(to_device(device, std::span(triplets.columns), of + " column indices")),
          values_(to_device(device, std::span(triplets.values), of + " values")) {}

    [[nodiscard]] TripletView<Value> view() const {
        return {count_, rows_.template as<Index>(), columns_.template as<Index>(), values_.template as<Value>()};
    }

private:
    Offset count_;
    DeviceMemory rows_;
    DeviceMemory columns_;
    DeviceMemory values_;
};

namespace triplets {

inline constexpr int threads_per_block = 256;

/// One thread a triplet, an addition each.
template <typename Value>
__global__ void __launch_bounds__(threads_per_block)
    add_each(TripletView<Value> triplets, const Value* __restrict__ x, Value* __restrict__ y) {
    const Offset i = static_cast<Offset>(blockIdx.x) * threads_per_block + threadIdx.x;
    if (i >= triplets.count) return;
    atomicAdd(y + __ldcs(triplets.rows + i), __ldcs(triplets.values + i) * x[__ldcs(triplets.columns + i)]);
}

/// One thread a triplet; the lanes of a warp that hold one row sum up first and add once. Lanes of one row are neighbours.
template <typename Value>
__global__ void __launch_bounds__(threads_per_block)
    add_runs(TripletView<Value> triplets, const Value* __restrict__ x, Value* __restrict__ y) {
    constexpr unsigned all_lanes = ~0u;
    const Offset i = static_cast<Offset>(blockIdx.x) * threads_per_block + threadIdx.x;
    const int lane = static_cast<int>(threadIdx.x % 32);
    const bool present = i < triplets.count;  // the others take part in the shuffles, with a row of their own
    const Index row = present ? __ldcs(triplets.rows + i) : -1;
    Value sum = present ? __ldcs(triplets.values + i) * x[__ldcs(triplets.columns + i)] : Value{0};
    // Before each round a lane holds the sum over its row in the next `distance` lanes.
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        const Value further = __shfl_down_sync(all_lanes, sum, distance);
        const Index row_of_it = __shfl_down_sync(all_lanes, row, distance);
        if (lane + distance < 32 && row_of_it == row) sum += further;
    }
    const Index row_before = __shfl_up_sync(all_lanes, row, 1);
    if (present && (lane == 0 || row_before != row)) atomicAdd(y + row, sum);
}

template <typename Value>
using Add = void (*)(TripletView<Value>, const Value*, Value*);

/// y += A x with one of the kernels above. y is to be what is added to: zero, or what was there.
template <typename Value>
void launch(Add<Value> add, const TripletView<Value>& triplets, const Value* x, Value* y, cudaStream_t stream) {
    if (triplets.count == 0) return;
    add<<<blocks_for(triplets.count, threads_per_block), threads_per_block, 0, stream>>>(triplets, x, y);
    check_launch("triplets");
}

}  // namespace triplets
}  // namespace workbench
