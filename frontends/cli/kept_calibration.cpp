#include "frontends/cli/kept_calibration.hpp"

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/system/compile.hpp"
#include "frontends/cli/terminal.hpp"

namespace workbench {

std::filesystem::path kept_calibration_file(const DeviceProperties& device) {
    return calibration_file(cache_folder() / "calibration", device);
}

std::optional<Calibration> kept_calibration(const DeviceProperties& device) {
    try {
        std::optional<Calibration> kept = read_calibration(kept_calibration_file(device), device);
        if (kept) print_error(fmt::format("predictions are calibrated: {}", kept_calibration_file(device).string()));
        return kept;
    } catch (const InputError& error) {
        print_error(fmt::format("warning: calibration ignored: {}", error.what()));
        return std::nullopt;
    }
}

}  // namespace workbench
