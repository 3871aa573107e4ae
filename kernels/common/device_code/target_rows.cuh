// The rows of y that kernels write for a share of the matrix.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernels/common/device_code/sparse_dot.cuh"
#include "kernels/common/storage/fields.hpp"
#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_device.cuh"

namespace workbench {

template <typename Value>
__global__ void zero_rows(const Index* __restrict__ rows, Index count, Value* __restrict__ y) {
    const Offset i = static_cast<Offset>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) y[rows[i]] = 0;
}

/// The list on the device.
class OwnedTargetRows {
public:
    /// Without rows: each is itself. of: the layout that the error names if memory is insufficient.
    OwnedTargetRows(Device& device, std::span<const Index> rows, const std::string& of)
        : rows_(device, {rows.begin(), rows.end()}, of + " rows of y") {}

    [[nodiscard]] TargetRows view() const { return {rows_.size() == 0 ? nullptr : rows_.data()}; }

    /// Zeroes these rows of y.
    template <typename Value>
    void zero(Value* y, Index layout_rows, cudaStream_t stream) const {
        if (layout_rows == 0) return;
        if (rows_.size() == 0) return zero_result(y, layout_rows, stream);
        constexpr int threads = 256;
        zero_rows<<<blocks_for(layout_rows, threads), threads, 0, stream>>>(rows_.data(), layout_rows, y);
        check_launch("zero_rows");
    }

private:
    DeviceArray<Index> rows_;
};

}  // namespace workbench
