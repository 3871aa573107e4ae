// The command line, versions and machine behind a result.
#pragma once

#include <map>
#include <string>

#include "core/contract/device.hpp"

namespace workbench {

/// Versions of "workbench" (with its commit), of the compiler and of every library.
[[nodiscard]] const std::map<std::string, std::string>& versions();

/// Those, and with a GPU the versions of its "driver" and of the "cuSPARSE" that this machine loads.
[[nodiscard]] std::map<std::string, std::string> versions_with(bool gpu);

/// Identifies this program: its version and commit and, if it was built from other sources than those of the commit, the
/// checksum of its file.
[[nodiscard]] std::string program_identity();

/// versions_with without the workbench, in one line: "CUDA 13.0, Eigen 3.4.0, ...".
[[nodiscard]] std::string software_text(bool gpu);

/// "0.1.0".
[[nodiscard]] std::string version_number();

/// The line that --version prints.
[[nodiscard]] std::string version_text();

/// Quotes a word for a POSIX shell if necessary.
[[nodiscard]] std::string quoted_for_shell(const std::string& word);

/// This process's command line, quoted for a shell: workbench run 'my recipe.toml'. Empty if /proc is not available.
[[nodiscard]] std::string command_line();

/// Operating system, processor, memory and threads. `host`: properties of the host device.
[[nodiscard]] std::map<std::string, std::string> describe_machine(const DeviceProperties& host);

template <typename Report>
void add_provenance(Report& report, const Device& host, bool gpu) {
    report.machine = describe_machine(host.properties());
    report.versions = versions_with(gpu);
}

}  // namespace workbench
