#include "kernels/common/compilation/cuda_driver.hpp"

#include <dlfcn.h>

#include <array>

namespace workbench {
namespace {

constexpr const char* driver_file = "libcuda.so.1";

struct OpenedDriver {
    CudaDriver driver;
    std::string why_not;
};

OpenedDriver open() {
    OpenedDriver opened;
    void* const library = dlopen(driver_file, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        opened.why_not = dlerror();
        return opened;
    }
    const auto find = [&](auto& function, const char* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
        if (function == nullptr) opened.why_not = std::string(driver_file) + " has no " + name;
    };
    CudaDriver& driver = opened.driver;
    find(driver.initialise, "cuInit");
    find(driver.error_name, "cuGetErrorName");
    find(driver.device, "cuDeviceGet");
    find(driver.device_attribute, "cuDeviceGetAttribute");
    find(driver.retain_primary_context, "cuDevicePrimaryCtxRetain");
    find(driver.set_current_context, "cuCtxSetCurrent");
    find(driver.synchronise, "cuCtxSynchronize");
    find(driver.allocate, "cuMemAlloc_v2");
    find(driver.upload, "cuMemcpyHtoD_v2");
    find(driver.download, "cuMemcpyDtoH_v2");
    find(driver.fill, "cuMemsetD8_v2");
    find(driver.fill_on_stream, "cuMemsetD8Async");
    find(driver.load_module, "cuModuleLoadData");
    find(driver.unload_module, "cuModuleUnload");
    find(driver.function, "cuModuleGetFunction");
    find(driver.set_function_attribute, "cuFuncSetAttribute");
    find(driver.launch, "cuLaunchKernel");
    return opened;
}

}  // namespace

std::string CudaDriver::name_of(DriverResult result) const {
    const char* name = nullptr;
    if (error_name(result, &name) == 0 && name != nullptr) return name;
    return "CUDA error " + std::to_string(result);
}

const CudaDriver* open_cuda_driver(std::string& why) {
    static const OpenedDriver opened = open();
    why = opened.why_not;
    return why.empty() ? &opened.driver : nullptr;
}

DriverResult launch_product(const CudaDriver& driver, const Launch& launch, void* function, void* arrays, DriverAddress x,
                            DriverAddress y, std::size_t y_bytes, bool accumulate, void* stream) {
    if (launch.zero_y && !accumulate && y_bytes > 0) {
        const DriverResult result = driver.fill_on_stream(y, 0, y_bytes, stream);
        if (result != 0) return result;
    }
    if (launch.blocks == 0) return 0;
    std::array<void*, 4> arguments{arrays, &x, &y, &accumulate};
    return driver.launch(function, launch.blocks, 1, 1, launch.threads_per_block, 1, 1, launch.shared_bytes, stream,
                         arguments.data(), nullptr);
}

DriverResult launch_prepare(const CudaDriver& driver, const Launch& launch, void* function, void* arrays, void* stream) {
    if (launch.blocks == 0) return 0;
    std::array<void*, 1> arguments{arrays};
    return driver.launch(function, launch.blocks, 1, 1, launch.threads_per_block, 1, 1, launch.shared_bytes, stream,
                         arguments.data(), nullptr);
}

DriverResult allow_shared_memory(const CudaDriver& driver, const Launch& launch, void* function) {
    if (launch.shared_bytes <= most_shared_bytes_unasked) return 0;
    return driver.set_function_attribute(function, attribute_most_dynamic_shared_bytes, static_cast<int>(launch.shared_bytes));
}

}  // namespace workbench
