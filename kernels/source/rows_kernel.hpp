// The CUDA kernel of a schedule (common/schedule/rows_kernel.cuh), compiled by NVRTC from a file beside the recipe.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "core/contract/device.hpp"

namespace workbench {

/// Names an instance of multiply_rows (schedule/rows_kernel.cuh).
struct RowsKernelName {
    std::string_view schedule;
    std::string_view arrays;
    std::string_view value;
};

/// A loaded kernel on the stream of the device that it was loaded for.
class LoadedRowsKernel : public Interface {
public:
    /// arguments: as cuLaunchKernel takes them.
    virtual void launch(Offset threads, void** arguments) = 0;
    virtual void zero(void* memory, std::size_t bytes) = 0;
};

/// Compiles the kernel from a format's file, unless it was compiled before, and returns its image.
/// Throws RecipeError with NVRTC's messages, or MachineError.
const std::string& compile_rows_kernel(const char* file, const RowsKernelName& name);
[[nodiscard]] std::unique_ptr<LoadedRowsKernel> load_rows_kernel(const char* file, const RowsKernelName& name, Device& device);

}  // namespace workbench
