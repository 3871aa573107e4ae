// The GPU of this machine, if there is one. No CUDA header is needed to ask for it; where the program was built without CUDA
// there is none.
#pragma once

#include <memory>
#include <string>

#include "pipeline/contract/device.hpp"

namespace workbench {

/// The calling thread's GPU, which is the first that CUDA lists unless the thread has chosen another one; or null: whatever
/// keeps CUDA from listing one (no driver, no device) means that there is none.
[[nodiscard]] std::unique_ptr<Device> make_cuda_device();

/// The same with all its work on a stream of somebody else, which must outlive it: a cudaStream_t; null: the default stream.
[[nodiscard]] std::unique_ptr<Device> make_cuda_device_on(void* stream);

/// Makes this the calling thread's GPU: number `rank_on_machine` of those that CUDA lists, counted round. Nothing where there
/// is none.
void choose_cuda_device(int rank_on_machine);

/// Why make_cuda_device() is null, in one line without a full stop; empty where it is not.
[[nodiscard]] std::string cuda_absence_reason();

/// The CUstream that all work of a GPU is put on. Of another device it is a mistake of the program.
[[nodiscard]] void* stream_of(Device& device);

}  // namespace workbench
