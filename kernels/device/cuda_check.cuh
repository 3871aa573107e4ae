// Every CUDA call is checked: its failure becomes a MachineError with the call, the place and the reason.
#pragma once

#include <cuda_runtime_api.h>

#include <source_location>
#include <string>
#include <string_view>

#include "core/contract/errors.hpp"
#include "core/matrix/types.hpp"

namespace workbench {

/// "ehyb/cuda.cu:120": folder and file identify the place without the paths of the machine that compiled it.
inline std::string short_location(const std::source_location& where) {
    std::string_view path = where.file_name();
    const std::size_t file = path.rfind('/');
    const std::size_t folder = file == std::string_view::npos || file == 0 ? file : path.rfind('/', file - 1);
    if (folder != std::string_view::npos) path.remove_prefix(folder + 1);
    return std::string(path) + ":" + std::to_string(where.line());
}

/// Throws MachineError unless the call succeeded.
inline void check_cuda(cudaError_t result, const char* call,
                       const std::source_location& where = std::source_location::current()) {
    if (result == cudaSuccess) return;
    throw MachineError(std::string("GPU: ") + call + " failed at " + short_location(where) + ": " + cudaGetErrorString(result));
}

/// Checks a launch, right after it. A failure inside the kernel shows at the next call that waits for the device.
inline void check_launch(const char* kernel, const std::source_location& where = std::source_location::current()) {
    check_cuda(cudaGetLastError(), kernel, where);
}

/// Zeroes y [rows] on the stream.
template <typename Value>
void zero_result(Value* y, Index rows, cudaStream_t stream,
                 const std::source_location& where = std::source_location::current()) {
    check_cuda(cudaMemsetAsync(y, 0, static_cast<std::size_t>(rows) * sizeof(Value), stream), "cudaMemsetAsync", where);
}

}  // namespace workbench
