// The GPU of this machine, if there is one, without CUDA headers. A program built without CUDA has none.
#pragma once

#include <memory>
#include <string>

#include "pipeline/contract/device.hpp"

namespace workbench {

/// The calling thread's GPU: the first that CUDA lists, unless the thread has chosen another one. Null if CUDA lists none, for
/// any reason.
[[nodiscard]] std::unique_ptr<Device> make_cuda_device();

/// Like make_cuda_device, with all work on the caller's stream, which must outlive it: a cudaStream_t; null: the default
/// stream.
[[nodiscard]] std::unique_ptr<Device> make_cuda_device_on(void* stream);

/// Makes GPU number `rank_on_machine`, modulo the number of GPUs, the calling thread's GPU. Does nothing without a GPU.
void choose_cuda_device(int rank_on_machine);

/// The reason why make_cuda_device() returns null, in one line without a full stop; empty if it does not.
[[nodiscard]] std::string cuda_absence_reason();

/// The CUstream of a GPU's work. The device must be a GPU.
[[nodiscard]] void* stream_of(Device& device);

}  // namespace workbench
