// The CUDA kernel of EHYB whose arrays were made on the GPU.
#pragma once

#include <span>

#include "core/contract/kernel.hpp"
#include "kernels/formats/ehyb/layout.hpp"

namespace workbench {

/// The kernel `fused` with columns of 16 bits. rows_outside: ehyb::Meeting::rows_outside, or empty if no row has entries
/// outside. partition, first_slices: copies of the arrays on the host. Throws Unsuitable if a part does not fit into shared
/// memory.
template <ValueType Value>
[[nodiscard]] std::unique_ptr<Kernel<Value>> ehyb_kernel_on_gpu(Ehyb<Value, std::uint16_t, DeviceArray>&& ehyb,
                                                                DeviceArray<std::uint32_t>&& rows_outside,
                                                                std::span<const Index> partition,
                                                                std::span<const Index> first_slices, Device& device);

}  // namespace workbench
