// Calibration: the constants of the cost model, fitted to times that were measured on a device, and kept in a file.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/contract/device.hpp"
#include "core/forecast/forecast.hpp"

namespace workbench {

/// The speed of a device. A product takes its launches, and then the longer of two times: that of its bytes and of the sectors
/// of x that its warps look up in L2, or that of the longest chain of loads of a thread.
struct DeviceSpeed {
    double bandwidth = 0;       // bytes per second of copying
    double sector_seconds = 0;  // of a lookup of 32 bytes of x
    double launch_seconds = 0;
    double step_seconds = 0;  // of a slot that a thread reads after the previous one
    bool is_gpu = false;
};

/// bandwidth: measured on the device; 0: that of the device model, if it is one.
[[nodiscard]] DeviceSpeed speed_of(const DeviceProperties& device, double bandwidth);

/// A product by the constants that it is proportional to: bytes (over the bandwidth that the layout reaches), sectors, launches
/// and steps.
struct ProductCounts {
    double bytes = 0;
    double sectors = 0;
    double launches = 0;
    double steps = 0;
};
[[nodiscard]] ProductCounts counts_of(const std::vector<LayoutCost>& costs, const DeviceSpeed& speed);

/// The time of a product with layouts of these costs, one after another.
[[nodiscard]] double predicted_seconds(const std::vector<LayoutCost>& costs, const DeviceSpeed& speed);

/// A product that was measured.
struct CalibrationLine {
    std::string layouts;  // name_of_layouts
    std::vector<LayoutCost> costs;
    double seconds = 0;
};

/// The speed of one device.
struct Calibration {
    std::string device = {};
    int processors = 0;  // threads of a host
    DeviceSpeed speed = {};
    std::map<std::string, double> layouts = {};  // measured over predicted time, by name_of_layouts
    int lines = 0;                               // that were measured
    double error_before = 0;                     // mean of |log(measured / predicted)|, with the defaults
    double error_after = 0;

    /// The time of a product with these layouts.
    [[nodiscard]] double seconds(const std::string& names, const std::vector<LayoutCost>& costs) const;
};

/// Fits bandwidth, launch, sector and step, none of them negative, so that the sum of (predicted / measured - 1)^2 is least,
/// and a factor for each layout. Constants that no line determines stay at the defaults. The device is the caller's to name.
[[nodiscard]] Calibration fit_calibration(const std::vector<CalibrationLine>& lines, const DeviceSpeed& defaults);

/// The file of a device in a folder.
[[nodiscard]] std::filesystem::path calibration_file(const std::filesystem::path& folder, const DeviceProperties& device);

/// Throws MachineError if it cannot be written.
void write_calibration(const std::filesystem::path& file, const Calibration& calibration);

/// None if there is no file. Throws InputError with the reason if the file is not a calibration of this device by this version.
[[nodiscard]] std::optional<Calibration> read_calibration(const std::filesystem::path& file, const DeviceProperties& device);

/// The constants beside the defaults, and the errors.
[[nodiscard]] std::string calibration_text(const Calibration& calibration, const DeviceSpeed& defaults);

}  // namespace workbench
