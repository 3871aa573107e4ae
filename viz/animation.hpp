// Animated PNG and GIF files.
#pragma once

#include <span>
#include <string>

#include "viz/image.hpp"

namespace workbench {

struct AnimationFrame {
    Image image;
    int hundredths = 5;  // of a second that it is shown
};

/// An endless animated PNG; programs without animation show the first image. Only the differences to the image before are
/// stored. Throws std::invalid_argument if there are no images or their sizes differ, MachineError if memory runs out.
[[nodiscard]] std::string animated_png_bytes(std::span<const AnimationFrame> frames);

/// Like animated_png_bytes, as a GIF with a palette of 256 colours for all images.
[[nodiscard]] std::string gif_bytes(std::span<const AnimationFrame> frames);

}  // namespace workbench
