// All stages of a recipe on one 16:9 sheet, for a projector.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "viz/canvas.hpp"
#include "viz/palette.hpp"
#include "viz/raster.hpp"
#include "viz/stage_picture.hpp"
#include "viz/storage_map.hpp"

namespace workbench {

struct StageFrame {
    PatternRaster raster;
    StageCaption caption;  // a short one, without origin
};

struct SheetHead {
    std::string title;   // the recipe
    std::string origin;  // its source and the matrix
};

/// The properties of the frames that determine their places.
struct SheetShape {
    std::size_t frames = 0;
    std::size_t lines = 0;         // of the longest caption
    bool entries = false;          // rows and columns are numbered
    bool stored = false;           // there is a second strip of row lengths
    bool stored_captions = false;  // beside a caption
    int heading_lines = 2;         // of title and parameters, unless `headings` has them
    bool storage = false;          // there is a storage bar
    std::span<const StageFrame> headings = {};
};

/// The resolution of rasters that fill the patterns of a sheet of this width.
[[nodiscard]] int sheet_resolution(const SheetShape& shape, int width);

/// The resolutions of which one fills the patterns of a sheet of this many stages, whatever its captions are.
[[nodiscard]] std::vector<int> sheet_resolutions(std::size_t frames, int width);

/// The stages in rows with arrows between them, as large as possible, with one legend. A caption has the lines whose value the
/// stage changed, the one that it improved most in large type; a sheet of many stages shows fewer lines. draw throws
/// std::invalid_argument if there are no frames or a raster has more bins than its pattern has pixels.
struct ContactSheet {
    std::span<const StageFrame> frames;
    DensityScale scale;
    SheetHead head;
    int width = 0;                        // 0: the least from 1920 on at which the patterns fill their cells
    const StorageMap* storage = nullptr;  // shown in a bar below (storage_bar)
};

[[nodiscard]] PictureSize size_of(const ContactSheet& sheet);
/// The pixels of a pattern's side in the sheet.
[[nodiscard]] int pattern_side(const ContactSheet& sheet);
void draw(Canvas& canvas, const ContactSheet& sheet);

}  // namespace workbench
