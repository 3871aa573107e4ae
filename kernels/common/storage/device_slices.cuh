// Sliced ELL in the memory of a GPU.
#pragma once

#include <string>

#include "kernels/common/device/sparse_dot.cuh"
#include "kernels/common/storage/slices.hpp"

namespace workbench {

/// What a kernel sees of Slices; passed by value.
template <typename Value, typename ColumnIndex>
struct SlicesView {
    int height = 32;
    Index count = 0;  // slices
    const Offset* offsets = nullptr;
    const ColumnIndex* columns = nullptr;
    const Value* values = nullptr;

    /// One lane of a slice times x. Height: the slice height where it is known beforehand, otherwise 0. Padding reads x at its
    /// column (the first of the base) and multiplies by 0.
    template <int Height, int entries_in_flight>
    __device__ __forceinline__ Value multiply_lane(Index slice, int lane, const Value* __restrict__ x) const {
        return multiply_share<Height, 1, entries_in_flight>(slice, lane, 0, x);
    }

    /// The share of one of the `Threads` threads of a lane: every Threads-th of its slots, from slot number `thread` on.
    template <int Height, int Threads, int entries_in_flight>
    __device__ __forceinline__ Value multiply_share(Index slice, int lane, int thread, const Value* __restrict__ x) const {
        const int stride = Height == 0 ? height : Height;
        const Offset begin = offsets[slice];
        const Offset first = begin + static_cast<Offset>(thread) * stride + lane;
        // The lane's slots from its own first one on, which in narrow slices is past the last.
        const Offset count = ((offsets[slice + 1] - begin) / stride - thread + Threads - 1) / Threads;
        return sparse_dot<entries_in_flight>(values + first, columns + first, count, Threads * stride, x);
    }
};

/// Owns the copy.
template <ValueType Value, typename ColumnIndex>
class DeviceSlices {
public:
    DeviceSlices(Device& device, const Slices<Value, ColumnIndex>& slices, const std::string& of)
        : height_(slices.slice_height),
          count_(slices.slice_count()),
          offsets_(to_device(device, std::span(slices.slice_offsets), of + " slice offsets")),
          columns_(to_device(device, std::span(slices.columns), of + " column indices")),
          values_(to_device(device, std::span(slices.values), of + " values")) {}

    [[nodiscard]] SlicesView<Value, ColumnIndex> view() const {
        return {height_, count_, offsets_.template as<Offset>(), columns_.template as<ColumnIndex>(),
                values_.template as<Value>()};
    }

private:
    int height_;
    Index count_;
    DeviceMemory offsets_;
    DeviceMemory columns_;
    DeviceMemory values_;
};

}  // namespace workbench
