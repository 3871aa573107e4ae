// ELL in the memory of a GPU.
#pragma once

#include <string>

#include "kernels/common/device/sparse_dot.cuh"
#include "kernels/common/storage/ell_slots.hpp"

namespace workbench {

/// What a kernel sees of EllSlots; passed by value.
template <typename Value>
struct EllView {
    Index row_count = 0;
    Index width = 0;
    Offset slot_stride = 1;
    Offset row_stride = 1;
    const Index* columns = nullptr;
    const Value* values = nullptr;

    /// Every `step`-th slot of a stored row, from slot `first` on, times x; padding included, which reads no x.
    template <int entries_in_flight>
    __device__ __forceinline__ Value multiply(Offset stored, int first, int step, const Value* __restrict__ x) const {
        const Offset begin = stored * row_stride + first * slot_stride;
        const Index count = (width - first + step - 1) / step;
        return sparse_dot<entries_in_flight, true>(values + begin, columns + begin, count, step * slot_stride, x);
    }
};

/// Owns the copy.
template <ValueType Value>
class DeviceEll {
public:
    DeviceEll(Device& device, const EllSlots<Value>& slots, const std::string& of)
        : row_count_(slots.row_count),
          width_(slots.width),
          slot_stride_(slots.slot_stride()),
          row_stride_(slots.row_stride()),
          columns_(to_device(device, std::span(slots.columns), of + " column indices")),
          values_(to_device(device, std::span(slots.values), of + " values")) {}

    [[nodiscard]] EllView<Value> view() const {
        return {row_count_, width_, slot_stride_, row_stride_, columns_.template as<Index>(), values_.template as<Value>()};
    }

private:
    Index row_count_;
    Index width_;
    Offset slot_stride_;
    Offset row_stride_;
    DeviceMemory columns_;
    DeviceMemory values_;
};

}  // namespace workbench
