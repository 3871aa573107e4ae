#include "kernels/common/compilation/checked_driver.hpp"

#include <fmt/format.h>

#include "core/contract/errors.hpp"

namespace workbench {

const CudaDriver& checked_driver() {
    std::string why;
    const CudaDriver* const opened = open_cuda_driver(why);
    if (opened == nullptr) throw MachineError("GPU: " + why);
    return *opened;
}

void check_driver(DriverResult result, const char* call) {
    if (result != 0) throw MachineError(fmt::format("GPU: {} failed: {}", call, checked_driver().name_of(result)));
}

std::string gpu_architecture() {
    const CudaDriver& driver = checked_driver();
    int device = 0;
    int major = 0;
    int minor = 0;
    check_driver(driver.device(&device, 0), "cuDeviceGet");
    check_driver(driver.device_attribute(&major, attribute_compute_capability_major, device), "cuDeviceGetAttribute");
    check_driver(driver.device_attribute(&minor, attribute_compute_capability_minor, device), "cuDeviceGetAttribute");
    return fmt::format("sm_{}{}", major, minor);
}

LoadedFunction::LoadedFunction(const std::string& image, const char* name) {
    const CudaDriver& driver = checked_driver();
    check_driver(driver.load_module(&module_, image.data()), "cuModuleLoadData");
    const DriverResult result = driver.function(&function_, module_, name);
    if (result == 0) return;
    (void)driver.unload_module(module_);
    check_driver(result, "cuModuleGetFunction");
}

LoadedFunction::~LoadedFunction() { (void)checked_driver().unload_module(module_); }

void* LoadedFunction::other(const char* name) const {
    void* function = nullptr;
    return checked_driver().function(&function, module_, name) == 0 ? function : nullptr;
}

}  // namespace workbench
