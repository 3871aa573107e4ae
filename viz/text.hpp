// Text in pictures: DejaVu Sans, carried in the program, so that a picture is the same on every machine.
#pragma once

#include <string>
#include <string_view>

#include "pipeline/matrix/types.hpp"
#include "viz/image.hpp"

namespace workbench {

enum class Align { left, centre, right };

struct TextStyle {
    int size = 16;  // pixels of the em square
    Colour colour{};
    Align align = Align::left;
};

/// Width in pixels of one line of UTF-8. Bytes that are not UTF-8 count as replacement characters.
[[nodiscard]] int text_width(std::string_view text, int size);

/// Draws one line of UTF-8 with its baseline at y, and starting, centred or ending at x.
void draw_text(Image& image, int x, int y, std::string_view text, const TextStyle& style);

/// The text, or as much of it as fits into the width with an ellipsis after it; empty where not even that fits.
[[nodiscard]] std::string shortened(std::string_view text, int size, int width);

/// 1234567 as "1 234 567", with narrow spaces.
[[nodiscard]] std::string grouped(Offset number);

/// A round number in little room: 20000 as "20k", 1500000 as "1.5M".
[[nodiscard]] std::string compact(Offset number);

}  // namespace workbench
