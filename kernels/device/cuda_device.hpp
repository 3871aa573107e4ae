// The GPUs of this machine, without CUDA headers. A program built without CUDA has none.
#pragma once

#include <string>

#include "core/contract/device.hpp"

namespace workbench {

/// Makes GPU number `rank_on_machine`, modulo the number of GPUs, the calling thread's GPU. Does nothing without a GPU.
void choose_cuda_device(int rank_on_machine);

/// The number of the calling thread's GPU; -1 without one.
[[nodiscard]] int cuda_device_number();

/// The reason why there is no GPU (make_cuda_device() returns null), in one line without a full stop; empty if there is one.
[[nodiscard]] std::string cuda_absence_reason();

/// The CUstream of a GPU's work. The device must be a GPU.
[[nodiscard]] void* stream_of(Device& device);

}  // namespace workbench
