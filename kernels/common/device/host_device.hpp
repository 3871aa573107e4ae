// The host as a device, for the Kokkos and Eigen kernels.
#pragma once

#include <cstddef>
#include <memory>

#include "pipeline/contract/device.hpp"

namespace workbench {

/// Kokkos must be initialised as long as the device lives.
[[nodiscard]] std::unique_ptr<Device> make_host_device();

/// From the seconds that it takes to copy one half of a buffer to the other, and to read all of it: both move its bytes once.
[[nodiscard]] Bandwidth host_bandwidth(std::size_t bytes, double copy_seconds, double read_seconds);

}  // namespace workbench
