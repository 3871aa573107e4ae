// Pictures that are compared with stored ones.
#pragma once

#include <string>

#include "viz/image.hpp"

namespace workbench {

/// The picture in the bytes of a PNG file.
[[nodiscard]] Image read_png(const std::string& bytes);

/// Compares with tests/golden/viz/NAME.png byte for byte. A picture that differs is written beside it.
void check_golden(const std::string& name, const Image& image);

}  // namespace workbench
