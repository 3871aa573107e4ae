// The picture of the matrix after one stage, made to be projected.
#pragma once

#include <string>
#include <vector>

#include "viz/canvas.hpp"
#include "viz/density_scale.hpp"
#include "viz/raster.hpp"
#include "viz/style.hpp"

namespace workbench {

/// One line of a caption, as the reader sees it.
struct CaptionLine {
    std::string label;   // "bandwidth"
    std::string value;   // "312"
    std::string before;  // the value after the stage before; empty: not known, and not shown
};

struct StageCaption {
    std::string title;     // "2  row_sort"
    std::string subtitle;  // its parameters
    std::vector<CaptionLine> lines;
    std::string origin = {};   // the recipe, the matrix, the source
    std::size_t left_out = 0;  // lines for which there was no room
};

/// A picture of 16 : 9 has the height of this width.
[[nodiscard]] int height_of(int width);

/// The resolution of the raster that a stage picture of this width is drawn from with no room left over.
[[nodiscard]] int stage_resolution(int width);

/// `width` pixels wide, as high as height_of says. All pictures of one recipe have the same geometry, so that leafing through
/// them shows the matrix move. Text is at least a fiftieth of the height; a caption of more than 16 lines gets smaller. Throws
/// std::invalid_argument where the raster has more bins than the pattern has pixels.
void draw_stage(Canvas& canvas, const PatternRaster& raster, const DensityScale& scale, const StageCaption& caption,
                int width = nominal_width);

/// The same picture while nonzeros are on their way to it (raster_between in moves.hpp): without strips, cuts and values.
/// `stage` is the raster at the end of the way, whose place the pattern takes.
[[nodiscard]] Image draw_between(const PatternRaster& between, const PatternRaster& stage, const DensityScale& scale,
                                 const StageCaption& caption, int width = nominal_width);

/// The same as pixels.
[[nodiscard]] Image draw_stage(const PatternRaster& raster, const DensityScale& scale, const StageCaption& caption,
                               int width = nominal_width);

}  // namespace workbench
