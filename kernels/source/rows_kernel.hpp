// The CUDA kernel of a schedule, compiled by NVRTC: for a format beside the recipe (common/schedule/rows_kernel.cuh), and for
// several vectors (vectors_kernel.cuh).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "core/contract/device.hpp"

namespace workbench {

/// Names an instance of multiply_rows, or with several vectors of multiply_rows_of_vectors, and the file of its format.
struct RowsKernelName {
    std::string file;  // beside the recipe; or the name of a format of the program
    std::string_view schedule;
    std::string_view arrays;
    std::string_view value;
    int vectors = 1;
};

/// A loaded kernel on the stream of the device that it was loaded for.
class LoadedRowsKernel : public Interface {
public:
    /// arguments: as cuLaunchKernel takes them.
    virtual void launch(Offset threads, unsigned shared_bytes, void** arguments) = 0;
    virtual void zero(void* memory, std::size_t bytes) = 0;
};

/// Compiles the kernel, unless it was compiled before, and returns its image. architecture: "sm_90"; empty: that of the
/// program's device. Throws RecipeError with NVRTC's messages, or MachineError.
const std::string& compile_rows_kernel(const RowsKernelName& name, const std::string& architecture = "");
[[nodiscard]] std::unique_ptr<LoadedRowsKernel> load_rows_kernel(const RowsKernelName& name, Device& device);

}  // namespace workbench
