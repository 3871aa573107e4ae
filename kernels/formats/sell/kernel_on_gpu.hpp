// The CUDA kernel of slices whose arrays were made on the GPU.
#pragma once

#include "core/contract/kernel.hpp"
#include "kernels/formats/sell/layout.hpp"

namespace workbench {

/// The kernel of a schedule for values in full, with one thread per row or several (SellThreads).
template <ValueType Value, typename ColumnIndex>
[[nodiscard]] std::unique_ptr<Kernel<Value>> sell_kernel_on_gpu(Sell<Value, ColumnIndex, DeviceArray>&& sell, Device& device);

}  // namespace workbench
