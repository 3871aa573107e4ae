#include "pipeline/cli/keep.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "pipeline/cli/versions.hpp"

namespace workbench {

void add_keep_option(CLI::App& command, std::string& folder) {
    command
        .add_option("--keep", folder,
                    "Keep what stages find and layouts in this folder, and read what an earlier run kept of the same matrix")
        ->type_name("FOLDER");
}

std::optional<KeepFolder> keep_folder(const std::string& folder, const DeviceProperties& host) {
    if (folder.empty()) return std::nullopt;
    std::string maker;
    for (const auto& [name, version] : versions()) maker += fmt::format("{} {}, ", name, version);
    return KeepFolder(
        folder, fmt::format("{}program {}, on {} threads of {}", maker, checksum_of_program(), host.processors, host.name));
}

}  // namespace workbench
