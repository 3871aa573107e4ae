// Detects a device that a kernel has broken.
#pragma once

#include "core/contract/device.hpp"

namespace workbench {

/// Copies a little memory to the device and back. Returns false if that fails: after an illegal address, for example, nothing
/// else runs on a GPU in the same process.
[[nodiscard]] bool still_works(Device& device);

}  // namespace workbench
