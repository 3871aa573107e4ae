// All stages of a recipe on one sheet.
#pragma once

#include <span>
#include <string_view>

#include "viz/density_scale.hpp"
#include "viz/image.hpp"
#include "viz/raster.hpp"
#include "viz/stage_picture.hpp"

namespace workbench {

struct StageFrame {
    PatternRaster raster;
    StageCaption caption;  // a short one: every line is drawn
};

/// About 1800 pixels wide (less for one or two stages) and as high as needed: the stages three in a row with arrows between
/// them, and one legend. Caption lines whose value the stage changed stand out. The scale is that of the stage pictures. Throws
/// std::invalid_argument where there are no frames, or a raster is finer than picture_resolution.
[[nodiscard]] Image contact_sheet(std::span<const StageFrame> frames, const DensityScale& scale, std::string_view title,
                                  std::string_view source);

}  // namespace workbench
