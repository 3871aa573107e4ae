// The functions of the CUDA driver that load and launch a kernel compiled at run time. The driver library is opened at run time
// and its headers are not used, so this compiles on machines without CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace workbench {

using DriverResult = int;  // 0: success
using DriverAddress = unsigned long long;

/// Function pointers with the signatures of cuda.h. Handles are opaque pointers.
struct CudaDriver {
    DriverResult (*initialise)(unsigned flags) = nullptr;
    DriverResult (*error_name)(DriverResult, const char**) = nullptr;
    DriverResult (*device)(int* device, int ordinal) = nullptr;
    DriverResult (*device_attribute)(int* value, int attribute, int device) = nullptr;
    DriverResult (*retain_primary_context)(void** context, int device) = nullptr;
    DriverResult (*set_current_context)(void* context) = nullptr;
    DriverResult (*synchronise)() = nullptr;
    DriverResult (*allocate)(DriverAddress*, std::size_t bytes) = nullptr;
    DriverResult (*upload)(DriverAddress, const void*, std::size_t bytes) = nullptr;
    DriverResult (*download)(void*, DriverAddress, std::size_t bytes) = nullptr;
    DriverResult (*fill)(DriverAddress, unsigned char, std::size_t bytes) = nullptr;
    DriverResult (*fill_on_stream)(DriverAddress, unsigned char, std::size_t bytes, void* stream) = nullptr;
    DriverResult (*load_module)(void** module, const void* image) = nullptr;
    DriverResult (*unload_module)(void* module) = nullptr;
    DriverResult (*function)(void** function, void* module, const char* name) = nullptr;
    DriverResult (*set_function_attribute)(void* function, int attribute, int value) = nullptr;
    DriverResult (*launch)(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                           unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream, void** arguments,
                           void** extra) = nullptr;

    /// "CUDA_ERROR_ILLEGAL_ADDRESS".
    [[nodiscard]] std::string name_of(DriverResult result) const;
};

/// Opens the driver once. Returns null and sets `why` if there is no driver.
[[nodiscard]] const CudaDriver* open_cuda_driver(std::string& why);

inline constexpr int attribute_compute_capability_major = 75;
inline constexpr int attribute_compute_capability_minor = 76;
inline constexpr int attribute_most_dynamic_shared_bytes = 8;
inline constexpr int most_shared_bytes_unasked = 48 * 1024;

/// How a kernel is launched.
struct Launch {
    std::uint32_t blocks = 0;  // 0: no launch
    std::uint32_t threads_per_block = 1;
    std::uint32_t shared_bytes = 0;
    bool zero_y = false;
};

/// Enqueues one product. Zeroes y first if the launch requires it and `accumulate` is false.
[[nodiscard]] DriverResult launch_product(const CudaDriver& driver, const Launch& launch, void* function, void* arrays,
                                          DriverAddress x, DriverAddress y, std::size_t y_bytes, bool accumulate, void* stream);

/// Enqueues the function that fills the memory of a file's own, with the grid of a product.
[[nodiscard]] DriverResult launch_prepare(const CudaDriver& driver, const Launch& launch, void* function, void* arrays,
                                          void* stream);

/// Raises the function's limit of dynamic shared memory to what the launch uses.
[[nodiscard]] DriverResult allow_shared_memory(const CudaDriver& driver, const Launch& launch, void* function);

}  // namespace workbench
