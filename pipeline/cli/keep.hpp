// --keep: results of stages and layouts for later runs.
#pragma once

#include <optional>
#include <string>

#include "pipeline/contract/device.hpp"
#include "pipeline/keep/keep_folder.hpp"

namespace CLI {
class App;
}

namespace workbench {

/// Adds --keep. `folder` must live until the command line is parsed; empty: nothing is kept.
void add_keep_option(CLI::App& command, std::string& folder);

/// What this program keeps on this machine; none without a folder. Throws MachineError where there can be no such folder.
[[nodiscard]] std::optional<KeepFolder> keep_folder(const std::string& folder, const DeviceProperties& host);

/// Null for none.
[[nodiscard]] inline KeepFolder* pointer_to(std::optional<KeepFolder>& folder) { return folder ? &*folder : nullptr; }

}  // namespace workbench
