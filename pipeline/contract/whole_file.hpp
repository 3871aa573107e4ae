// Output files are written whole or not at all.
#pragma once

#include <filesystem>
#include <string_view>

namespace workbench {

/// Writes to a temporary name beside `path` and renames it, so that nobody ever sees half a file. Folders above it are made.
/// A link is followed, and a device or pipe is written to as it is.
/// Throws MachineError that names the path and the reason; nothing is left behind then.
void write_whole_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace workbench
