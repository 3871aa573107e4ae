// The machine the program runs on.
#pragma once

#include <map>
#include <string>

#include "pipeline/contract/device.hpp"

namespace workbench {

/// Operating system, processor, memory, threads. `host` is the host as a device.
[[nodiscard]] std::map<std::string, std::string> describe_machine(const DeviceProperties& host);

}  // namespace workbench
