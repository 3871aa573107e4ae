#include "studies/choose/device_speed.hpp"

#include <algorithm>

namespace workbench {
namespace {

// Fitted to the lines of docs/results (h200-*): lookups of x in L2 pass at 1.66 times the bandwidth of copying.
constexpr double sector_bandwidth = 1.66;
constexpr double gpu_launch = 4e-6;
constexpr double gpu_step = 8e-8;
constexpr double host_launch = 1e-5;
constexpr double usual_bandwidth_of_host = 2e10;

}  // namespace

DeviceSpeed speed_of(const DeviceProperties& device, double bandwidth) {
    if (device.kind == DeviceKind::host) {
        return {.bandwidth = bandwidth > 0 ? bandwidth : usual_bandwidth_of_host, .launch_seconds = host_launch};
    }
    DeviceSpeed speed{.launch_seconds = gpu_launch, .step_seconds = gpu_step, .is_gpu = true};
    speed.bandwidth = bandwidth > 0 ? bandwidth : std::max(device.memory_bandwidth, tuned_device_model().memory_bandwidth);
    speed.sector_seconds = cache_sector / (sector_bandwidth * speed.bandwidth);
    return speed;
}

ProductCounts counts_of(const std::vector<LayoutCost>& costs, const DeviceSpeed& speed) {
    ProductCounts counts;
    for (const LayoutCost& cost : costs) {
        const double bytes = static_cast<double>(cost.bytes()) / (speed.is_gpu ? cost.bandwidth : 1);
        const auto steps = static_cast<double>(cost.chain);
        if (bytes / speed.bandwidth + cost.sectors * speed.sector_seconds >= steps * speed.step_seconds) {
            counts.bytes += bytes;
            counts.sectors += cost.sectors;
        } else {
            counts.steps += steps;
        }
        counts.launches += cost.launches * (cost.launches > 1 ? 0.5 : 1);
    }
    return counts;
}

double predicted_seconds(const std::vector<LayoutCost>& costs, const DeviceSpeed& speed) {
    const ProductCounts counts = counts_of(costs, speed);
    return counts.bytes / speed.bandwidth + counts.sectors * speed.sector_seconds + counts.steps * speed.step_seconds +
           counts.launches * speed.launch_seconds;
}

}  // namespace workbench
