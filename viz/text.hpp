// Text in pictures. The fonts are embedded in the program, so that pictures are identical on all machines: DejaVu Sans and, if
// the program was built with it, Droid Sans Fallback for Chinese, Japanese and Korean.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/matrix/types.hpp"
#include "viz/image.hpp"

namespace workbench {

enum class Align { left, centre, right };

struct Point {
    double x = 0;
    double y = 0;
};

struct TextStyle {
    int size = 16;  // pixels of the em square
    Colour colour{};
    Align align = Align::left;
    int most_width = unlimited;  // Canvas::text shortens a longer text
    int least_size = 0;          // after shrinking it to this size; 0: never shrinks

    static constexpr int unlimited = std::numeric_limits<int>::max();
};

/// Returns true if the fonts can draw Chinese, Japanese and Korean. A character that they lack is written as its number:
/// <4E2D>.
[[nodiscard]] bool has_cjk_font();

/// The file of DejaVu Sans, for formats that embed it.
[[nodiscard]] std::string_view main_font();

/// The characters of UTF-8 if DejaVu Sans has them all; none otherwise. Characters that no font has are written as numbers.
[[nodiscard]] std::optional<std::u32string> in_main_font(std::string_view text);

/// Width in pixels of one line of UTF-8. Invalid bytes count as replacement characters.
[[nodiscard]] int text_width(std::string_view text, int size);

/// Draws one line of UTF-8 with its baseline at y, and its left end, centre or right end at x.
void draw_text(Image& image, int x, int y, std::string_view text, const TextStyle& style);

/// A step along the outlines of letters. Each outline begins with a move.
struct OutlinePart {
    enum class PathStep { move, line, curve };
    PathStep kind = PathStep::move;
    Point first;  // control points of a cubic curve
    Point second;
    Point end;
};

/// Like draw_text, as outlines for text in fonts that the format does not embed.
[[nodiscard]] std::vector<OutlinePart> text_outline(Point at, std::string_view text, const TextStyle& style);

/// The longest beginning of the text that fits into the width with an ellipsis; the whole text if it fits, empty if nothing
/// does.
[[nodiscard]] std::string shortened(std::string_view text, int size, int width);

/// Each text like shortened. Unless all fit, points of sweeps have short keys (with_short_keys); texts that would look alike
/// keep the part in which they differ instead, behind an ellipsis.
[[nodiscard]] std::vector<std::string> shortened(const std::vector<std::string>& names, int size, int width);

/// The largest size from `smallest` to `size` at which the text fits into the width; `smallest` if there is none.
[[nodiscard]] int fitting_size(std::string_view text, int size, int smallest, int width);

/// Breaks the text between words into at most `most_lines` lines that fit into the width. The last line is shortened if needed.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, int size, int width, std::size_t most_lines);

/// A number with at most four digits and a suffix: 20000 as "20k", 1500000 as "1.5M".
[[nodiscard]] std::string compact(Offset number);

}  // namespace workbench
