// The pieces that the stage picture and the contact sheet share: the pattern, its axes, its legend.
#pragma once

#include "viz/density_scale.hpp"
#include "viz/image.hpp"
#include "viz/raster.hpp"

namespace workbench {

/// Where the pattern lies when its upper left corner is at (x, y) and its longer side has at most `side` pixels: a whole number
/// of pixels a bin. A side without bins, and one that would be hardly visible, is drawn wider.
[[nodiscard]] Box pattern_box(const PatternRaster& raster, int x, int y, int side);

/// Bins, cuts and frame; the values of the entries where there is room for them.
void draw_pattern(Image& image, const PatternRaster& raster, const DensityScale& scale, const Box& box);

/// Round row and column numbers along the pattern's left and upper side, or the original numbers of all rows and columns where
/// the matrix is shown entry by entry.
void draw_axes(Image& image, const PatternRaster& raster, const Box& box, int text_size);

/// What hues and shades mean, on two lines below (x, y). Gives the x where something else may stand beside it.
int draw_legend(Image& image, const PatternRaster& raster, const DensityScale& scale, int x, int y, int text_size);

}  // namespace workbench
