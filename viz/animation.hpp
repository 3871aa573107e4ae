// Pictures one after the other, as one file.
#pragma once

#include <span>
#include <string>

#include "viz/image.hpp"

namespace workbench {

struct AnimationFrame {
    Image image;
    int hundredths = 5;  // of a second that it stays
};

/// An animated PNG that begins anew when it has ended; a program that knows no such thing shows the first picture. Of a picture
/// only the part is stored that differs from the one before. Throws std::invalid_argument where there is no picture, or one is
/// of another size; MachineError where memory runs out.
[[nodiscard]] std::string animated_png_bytes(std::span<const AnimationFrame> frames);

/// The same as GIF, which has 256 colours: those that suit these pictures. Through giflib.
[[nodiscard]] std::string gif_bytes(std::span<const AnimationFrame> frames);

}  // namespace workbench
