// The CUDA kernel of slices of blocks whose arrays were made on the GPU.
#pragma once

#include "core/contract/kernel.hpp"
#include "kernels/formats/block_sell/layout.hpp"

namespace workbench {

/// The kernel `warps` for values in full.
template <ValueType Value>
[[nodiscard]] std::unique_ptr<Kernel<Value>> block_sell_kernel_on_gpu(BlockSell<Value, DeviceArray>&& sell, Device& device);

}  // namespace workbench
