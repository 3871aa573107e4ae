#include "kernels/device/tuned.hpp"

#include "core/contract/device.hpp"

namespace workbench::tuned {

std::int64_t dasp_many_row_blocks(const DeviceProperties& device) {
    constexpr std::int64_t row_blocks_of_h200 = 72000;
    constexpr std::int64_t processors_of_h200 = 132;
    return row_blocks_of_h200 * device.processors / processors_of_h200;
}

std::int64_t halo_parts(const DeviceProperties& device) { return std::int64_t{halo_parts_of_processor} * device.processors; }

std::int64_t halo_shared_memory(const DeviceProperties& device) {
    const auto of_processor = static_cast<std::int64_t>(device.shared_memory_per_processor);
    const std::int64_t reserved = of_processor - static_cast<std::int64_t>(device.shared_memory_per_block);
    return of_processor / halo_parts_of_processor - reserved;
}

}  // namespace workbench::tuned
