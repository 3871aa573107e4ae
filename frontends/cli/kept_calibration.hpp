// Calibrations of the devices of this machine, in the cache folder.
#pragma once

#include <optional>

#include "studies/choose/calibration.hpp"

namespace workbench {

[[nodiscard]] std::filesystem::path kept_calibration_file(const DeviceProperties& device);

/// The calibration that `workbench calibrate` kept for this device; none if there is no valid one. A file that is used is
/// reported on standard error, as is a file that is not valid and therefore ignored.
[[nodiscard]] std::optional<Calibration> kept_calibration(const DeviceProperties& device);

}  // namespace workbench
