// The GPU of this machine, if there is one. No CUDA header is needed to ask for it; where the program was built without CUDA
// there is none.
#pragma once

#include <memory>
#include <string>

#include "pipeline/contract/device.hpp"

namespace workbench {

/// The first GPU that CUDA lists, or null: whatever keeps CUDA from listing one (no driver, no device) means that there is
/// none.
[[nodiscard]] std::unique_ptr<Device> make_cuda_device();

/// Why make_cuda_device() is null, in one line without a full stop; empty where it is not.
[[nodiscard]] std::string cuda_absence_reason();

/// The CUstream that all work of a GPU is put on. Of another device it is a mistake of the program.
[[nodiscard]] void* stream_of(Device& device);

}  // namespace workbench
