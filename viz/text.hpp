// Text in pictures: DejaVu Sans, and for Chinese, Japanese and Korean Droid Sans Fallback where the program was built with it,
// carried in the program, so that a picture is the same on every machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pipeline/matrix/types.hpp"
#include "viz/image.hpp"

namespace workbench {

enum class Align { left, centre, right };

struct TextStyle {
    int size = 16;  // pixels of the em square
    Colour colour{};
    Align align = Align::left;
};

/// Are there Chinese, Japanese and Korean characters? A character that the fonts lack is written as its number: <4E2D>.
[[nodiscard]] bool has_cjk_font();

/// Width in pixels of one line of UTF-8. Bytes that are not UTF-8 count as replacement characters.
[[nodiscard]] int text_width(std::string_view text, int size);

/// Draws one line of UTF-8 with its baseline at y, and starting, centred or ending at x.
void draw_text(Image& image, int x, int y, std::string_view text, const TextStyle& style);

/// A step along the outlines of letters: to be filled, each outline begins with a move.
struct OutlinePart {
    enum class Kind { move, line, curve };
    struct Point {
        double x = 0;
        double y = 0;
    };
    Kind kind = Kind::move;
    Point first;  // of a cubic curve: what draws it from where it begins
    Point second;
    Point end;
};

/// The same line of text as outlines, for what knows no fonts.
[[nodiscard]] std::vector<OutlinePart> text_outline(double x, double y, std::string_view text, const TextStyle& style);

/// The text, or as much of it as fits into the width with an ellipsis after it; empty where not even that fits.
[[nodiscard]] std::string shortened(std::string_view text, int size, int width);

/// The size, or as much of it as lets the text fit into the width, but at least `smallest`.
[[nodiscard]] int fitting_size(std::string_view text, int size, int smallest, int width);

/// The text in lines that fit into the width, broken between words, at most so many: the last is shortened where more is left.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, int size, int width, std::size_t most_lines);

/// 1234567 as "1 234 567", with narrow spaces.
[[nodiscard]] std::string grouped(Offset number);

/// A round number in little room: 20000 as "20k", 1500000 as "1.5M".
[[nodiscard]] std::string compact(Offset number);

}  // namespace workbench
