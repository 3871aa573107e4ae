// The picture of the matrix after one stage, made to be projected.
#pragma once

#include <string>
#include <vector>

#include "viz/density_scale.hpp"
#include "viz/image.hpp"
#include "viz/raster.hpp"

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
};

/// 1440 pixels wide and 1080 high; higher where the caption needs it, lower where the matrix is low and wide. All pictures of
/// one recipe with captions of the same length have the same geometry, so that leafing through them shows the matrix move.
/// Throws std::invalid_argument where the raster is finer than picture_resolution.
[[nodiscard]] Image draw_stage(const PatternRaster& raster, const DensityScale& scale, const StageCaption& caption);

}  // namespace workbench
