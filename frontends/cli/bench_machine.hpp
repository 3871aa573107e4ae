// The machine of a bench, queried without keeping its devices.
#pragma once

#include <string>

namespace workbench {

struct BenchMachine {
    std::string devices;
    bool gpu = false;
};

/// Queries the devices in a child process, so that this one holds neither threads nor GPU memory during the measurements.
/// Throws MachineError if they cannot be queried.
[[nodiscard]] BenchMachine bench_machine();

}  // namespace workbench
