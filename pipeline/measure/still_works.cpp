#include "pipeline/measure/still_works.hpp"

#include <array>

#include "core/contract/errors.hpp"

namespace workbench {

bool still_works(Device& device) {
    std::array<Index, 4> numbers{};
    try {
        const DeviceMemory memory = to_device(device, std::span<const Index>(numbers), "a test of the device");
        device.download(memory, std::as_writable_bytes(std::span(numbers)));
    } catch (const UserError&) {
        return false;
    }
    return true;
}

}  // namespace workbench
