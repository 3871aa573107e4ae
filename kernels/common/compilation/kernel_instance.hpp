// Instances of CUDA kernel templates that NVRTC compiles: of the kernel of schedules (common/schedule/rows_kernel.cuh, and
// vectors_kernel.cuh for several vectors), also for a format beside the recipe, and of kernels with loops of their own.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "core/contract/device.hpp"

namespace workbench {

/// Names an instance and the file that declares its template, or the arrays and the schedule that it is for.
struct KernelInstance {
    std::string file;            // beside the recipe; or of the program: the name of a format, or a file below kernels/formats
    std::string name;            // "multiply_rows<...>", as seen from namespace workbench
    bool for_one_vector = true;  // without NVRTC, other kernels of a format beside the recipe still run
};

/// A loaded kernel on the stream of the device that it was loaded for.
class LoadedKernel : public Interface {
public:
    /// arguments: the address of each argument of the kernel, in order. Throws Unsuitable if there are more blocks than a GPU
    /// can launch.
    virtual void launch(Offset blocks, int threads_of_block, unsigned shared_bytes, void** arguments) = 0;
};

/// Compiles the kernel, unless it was compiled before, and returns its image. architecture: "sm_90"; empty: that of the
/// program's device. Throws RecipeError with NVRTC's messages; without NVRTC, Unsuitable or MachineError.
const std::string& compile_instance(const KernelInstance& instance, const std::string& architecture = "");
[[nodiscard]] std::unique_ptr<LoadedKernel> load_instance(const KernelInstance& instance, Device& device);

}  // namespace workbench
