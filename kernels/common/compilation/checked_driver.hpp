// The CUDA driver with failures as MachineErrors.
#pragma once

#include <string>

#include "kernels/common/compilation/cuda_driver.hpp"

namespace workbench {

/// Throws MachineError if there is no driver.
[[nodiscard]] const CudaDriver& checked_driver();

/// Throws MachineError unless the call succeeded.
void check_driver(DriverResult result, const char* call);

/// The architecture of the program's device, as "sm_90".
[[nodiscard]] std::string gpu_architecture();

/// A function of an image that the driver has loaded.
class LoadedFunction {
public:
    LoadedFunction(const std::string& image, const char* name);
    ~LoadedFunction();
    LoadedFunction(const LoadedFunction&) = delete;
    LoadedFunction& operator=(const LoadedFunction&) = delete;

    [[nodiscard]] void* get() const { return function_; }
    /// Another function of the image, or null if it has none of this name.
    [[nodiscard]] void* other(const char* name) const;

private:
    void* module_ = nullptr;
    void* function_ = nullptr;
};

}  // namespace workbench
