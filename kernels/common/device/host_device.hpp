// The host as a device, for the Kokkos and Eigen kernels.
#pragma once

#include <memory>

#include "pipeline/contract/device.hpp"

namespace workbench {

/// Kokkos must be initialised as long as the device lives.
[[nodiscard]] std::unique_ptr<Device> make_host_device();

}  // namespace workbench
