// The picture of the matrix after one stage, for a projector.
#pragma once

#include <string>
#include <vector>

#include "viz/canvas.hpp"
#include "viz/palette.hpp"
#include "viz/pattern_view.hpp"
#include "viz/raster.hpp"
#include "viz/style.hpp"

namespace workbench {

/// One figure of a caption.
struct CaptionLine {
    std::string label;   // "bandwidth"
    std::string value;   // "312"
    std::string before;  // the value after the stage before; empty: unknown
    double factor = 1;   // by which the value became better; infinite from unknown, or from or to zero
};

struct StageCaption {
    std::string title;     // "2  row_sort"
    std::string subtitle;  // the stage's parameters
    std::vector<CaptionLine> lines;
    std::string origin = {};              // the recipe, the matrix, the source
    std::size_t left_out = 0;             // figures that are not in `lines`
    std::vector<std::string> notes = {};  // "unknowns a node: 3": what the stage found
};

/// The label, and below it the value with the one before; nothing if there is no value after this stage ("-").
void draw_caption_line(Canvas& canvas, const CaptionLine& line, const TextPlace& place, Unit unit);

/// The resolution of a raster that fills the pattern of a stage picture of this width.
[[nodiscard]] int stage_resolution(int width);

/// A 16:9 picture with the same geometry for all stages of a recipe, so that paging through them shows the matrix move. Text is
/// at least a fiftieth of the height; a caption of more than 16 lines is smaller. draw throws std::invalid_argument if the
/// raster has more bins than the pattern has pixels.
struct StagePicture {
    const PatternRaster& raster;
    DensityScale scale;
    StageCaption caption;
    int width = nominal_width;
    /// A raster on the way to the next stage (raster_between in moves.hpp), drawn in its place, without cuts and values.
    const PatternRaster* moving = nullptr;
};

[[nodiscard]] PictureSize size_of(const StagePicture& picture);
void draw(Canvas& canvas, const StagePicture& picture);

}  // namespace workbench
