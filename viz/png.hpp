// Writing a picture as a file.
#pragma once

#include <filesystem>
#include <string>

#include "viz/image.hpp"

namespace workbench {

/// The picture as a PNG file's bytes: always the same for the same picture, without a time stamp.
/// Throws MachineError where memory runs out.
[[nodiscard]] std::string png_bytes(const Image& image);

/// Writes the picture whole or not at all; folders above it are made. Throws MachineError with the path and the reason.
void write_png(const std::filesystem::path& path, const Image& image);

}  // namespace workbench
