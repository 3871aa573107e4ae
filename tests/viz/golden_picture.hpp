// Comparison of pictures with stored ones.
#pragma once

#include <string>

#include "viz/image.hpp"

namespace workbench {

/// Decodes a PNG file.
[[nodiscard]] Image read_png(const std::string& bytes);

/// Compares the file with tests/golden/viz/NAME.png byte for byte. A different picture is written beside it.
void check_golden(const std::string& name, const Image& image);

}  // namespace workbench
