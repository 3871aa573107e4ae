// The parts that the stage picture and the contact sheet share: the pattern, its axes, its legend.
#pragma once

#include <string>
#include <vector>

#include "viz/canvas.hpp"
#include "viz/palette.hpp"
#include "viz/raster.hpp"
#include "viz/style.hpp"

namespace workbench {

/// The box of the pattern if its upper left corner is at (x, y) and its longer side has at most `side` pixels: a whole number
/// of pixels a bin. Very narrow patterns are drawn wider.
[[nodiscard]] Box pattern_box(const PatternRaster& raster, int x, int y, int side);

/// The side of a raster that fills a pattern of `side` pixels.
[[nodiscard]] int resolution_for(int side);

struct PatternPlace {
    const PatternRaster& raster;
    const DensityScale& scale;
    Box box;
    Unit unit;
};

/// Draws bins, cuts, slices and frame, and the values of entries that are large enough.
void draw_pattern(Canvas& canvas, const PatternPlace& pattern);

/// Row and column numbers along the left and upper side: round ones, or those of the input if single entries are shown.
void draw_axes(Canvas& canvas, const PatternRaster& raster, const Box& box, int text_size);

/// The boundaries of slice_boundaries if lines between the slices leave enough of them free in a pattern of this height,
/// otherwise none.
[[nodiscard]] std::vector<int> drawn_slices(const PatternRaster& raster, int height);

/// Notes on compressed rows, on slices, and on lines that are left out in a pattern of this size.
[[nodiscard]] std::vector<std::string> pattern_notes(const PatternRaster& raster, const Box& box);

/// A text block of the given width below (x, y).
struct TextPlace {
    int x = 0;
    int y = 0;
    int width = 0;
    int text_size = 0;
};

/// Explains hues and shades in two lines, or in three if they are too wide. Returns the bottom.
int draw_legend(Canvas& canvas, const PatternRaster& raster, const DensityScale& scale, const TextPlace& place);

}  // namespace workbench
