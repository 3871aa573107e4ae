// The pieces that the stage picture and the contact sheet share: the pattern, its axes, its legend.
#pragma once

#include <string>
#include <vector>

#include "viz/canvas.hpp"
#include "viz/density_scale.hpp"
#include "viz/raster.hpp"
#include "viz/style.hpp"

namespace workbench {

/// Where the pattern lies when its upper left corner is at (x, y) and its longer side has at most `side` pixels: a whole number
/// of pixels a bin. A side without bins, and one that would be hardly visible, is drawn wider.
[[nodiscard]] Box pattern_box(const PatternRaster& raster, int x, int y, int side);

/// Bins, cuts and frame; the values of the entries where there is room for them.
void draw_pattern(Canvas& canvas, const PatternRaster& raster, const DensityScale& scale, const Box& box, Unit unit);

/// Round row and column numbers along the pattern's left and upper side, or the original numbers of rows and columns where the
/// matrix is shown entry by entry.
void draw_axes(Canvas& canvas, const PatternRaster& raster, const Box& box, int text_size);

/// What a pattern drawn into this box does not show as one might think: rows that are compressed, lines that are left out.
[[nodiscard]] std::vector<std::string> pattern_notes(const PatternRaster& raster, const Box& box);

struct LegendSize {
    int right = 0;
    int bottom = 0;
};

/// What hues and shades mean, on two lines below (x, y), or on three where the width asks for it. Gives where something else
/// may stand beside and below it.
LegendSize draw_legend(Canvas& canvas, const PatternRaster& raster, const DensityScale& scale, int x, int y, int text_size,
                       int width);

}  // namespace workbench
