// Calibrations of the devices of this machine, in the cache folder.
#pragma once

#include <optional>

#include "studies/choose/calibration.hpp"

namespace workbench {

[[nodiscard]] std::filesystem::path kept_calibration_file(const DeviceProperties& device);

/// What `workbench calibrate` kept for this device; none if it kept nothing. A file that is not valid is reported on standard
/// error and ignored, and so is one that is used.
[[nodiscard]] std::optional<Calibration> kept_calibration(const DeviceProperties& device);

}  // namespace workbench
