// The GPU of this machine, with all that it can do. A program built without CUDA has none.
#pragma once

#include <memory>
#include <string>

#include "core/contract/device.hpp"

namespace workbench {

/// The calling thread's GPU: the first that CUDA lists, unless the thread has chosen another one. Null if CUDA lists none, for
/// any reason.
[[nodiscard]] std::unique_ptr<Device> make_cuda_device();

/// Like make_cuda_device, with all work on the caller's stream, which must outlive it: a cudaStream_t; null: the default
/// stream.
[[nodiscard]] std::unique_ptr<Device> make_cuda_device_on(void* stream);

/// Like make_cuda_device_on, for solvers, which record graphs. The default stream records none, so solvers on it share a stream
/// that keeps its order: either waits for what was queued on the other before.
[[nodiscard]] std::unique_ptr<Device> make_cuda_device_for_solver(void* stream);

/// The version of the cuSPARSE that this machine loads, "12.6.3"; empty if there is none.
[[nodiscard]] std::string cusparse_version();

}  // namespace workbench
