// The time of a product on a device, by what a layout states of its cost.
#pragma once

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

}  // namespace workbench
