// All stages of a recipe on one sheet, made to be projected.
#pragma once

#include <span>
#include <string>

#include "viz/canvas.hpp"
#include "viz/density_scale.hpp"
#include "viz/raster.hpp"
#include "viz/stage_picture.hpp"

namespace workbench {

/// Left and right of a sheet of 1920 x 1080.
inline constexpr int sheet_margin = 36;

struct StageFrame {
    PatternRaster raster;
    StageCaption caption;  // a short one; its origin is not drawn
};

struct SheetHead {
    std::string title;   // the recipe
    std::string origin;  // its source and the matrix
};

/// What of a sheet depends on how many frames there are, not on what is in them.
struct SheetShape {
    std::size_t frames = 0;
    std::size_t lines = 0;  // of the longest caption
    bool entries = false;   // is the matrix small enough to have its rows and columns numbered?
    bool stored = false;    // is there a second strip of row lengths?
    int subtitle = 0;       // the width of the longest, at 22 pixels
    int reserved = 0;       // the height that is left free below, of a sheet of 1920 x 1080
};

[[nodiscard]] SheetShape shape_of(std::span<const StageFrame> frames, int reserved = 0);

/// The resolution of the rasters that a sheet of this width is drawn from with no room left over.
[[nodiscard]] int sheet_resolution(const SheetShape& shape, int width);

/// The least width of at least 1920 pixels at which the patterns of these frames take the room that there is for them.
[[nodiscard]] int sheet_width(std::span<const StageFrame> frames, int reserved = 0);

/// `width` pixels wide and 9/16 of that high: the stages row by row with arrows between them, as large as they can be, and one
/// legend. Caption lines whose value the stage changed stand out; of many stages, fewer lines are drawn. The scale is that of
/// the stage pictures. Below, `reserved` of 1080 parts of the height are left free. Throws std::invalid_argument where there
/// are no frames, or a raster has more bins than its pattern would have pixels.
void contact_sheet(Canvas& canvas, std::span<const StageFrame> frames, const DensityScale& scale, const SheetHead& head,
                   int width, int reserved = 0);

/// The same as pixels; without a width, that of sheet_width.
[[nodiscard]] Image contact_sheet(std::span<const StageFrame> frames, const DensityScale& scale, const SheetHead& head,
                                  int width = 0, int reserved = 0);

}  // namespace workbench
