// The versions and the machine behind a result.
#pragma once

#include <map>
#include <string>

#include "pipeline/contract/device.hpp"

namespace workbench {

/// Versions of "workbench" (with its commit), of the compiler and of every library.
[[nodiscard]] const std::map<std::string, std::string>& versions();

/// "0.1.0".
[[nodiscard]] std::string version_number();

/// The line that --version prints.
[[nodiscard]] std::string version_text();

/// Operating system, processor, memory and threads. `host`: properties of the host device.
[[nodiscard]] std::map<std::string, std::string> describe_machine(const DeviceProperties& host);

template <typename Report>
void add_provenance(Report& report, const Device& host) {
    report.machine = describe_machine(host.properties());
    report.versions = versions();
}

}  // namespace workbench
