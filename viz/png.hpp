// PNG files.
#pragma once

#include <filesystem>
#include <string>

#include "viz/image.hpp"

namespace workbench {

/// The bytes of a PNG file, without a time stamp: the same image gives the same bytes. Throws MachineError if memory runs out.
[[nodiscard]] std::string png_bytes(const Image& image);

/// Writes the file completely or not at all, and creates its folders. Throws MachineError with the path and the reason.
void write_png(const std::filesystem::path& path, const Image& image);

}  // namespace workbench
