// The arrays of a layout in memory, and the reads of its kernel, as a picture.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "viz/canvas.hpp"
#include "viz/storage_map.hpp"

namespace workbench {

/// The width of a picture, and the parts of the map that it shows.
struct StorageDetail {
    int width = 1600;
    int least_cell_width = 39;
    int name_width = 210;  // beside cells
    int crop = 0;          // at the left and right of a picture for a paper, whose size has its scale; 0: none
    bool memory_bar = true;
    bool arrays = true;
    bool lane_notes = true;                            // below cells: the lane and step that read them
    int most_lines = std::numeric_limits<int>::max();  // of cells per array; bins are joined until they fit
    std::size_t most_warps = most_shown_warps;
    std::int64_t most_steps = most_shown_steps;
};

/// A storage map as a picture. A bar shows all arrays in proportion to their bytes. Below it, each array is drawn in memory
/// order, cell by cell or in bins that are filled in proportion to their nonzeros. Some warps follow, with a column for each
/// lane and a line for each step. Values are dark blue, columns green, structures light violet, padding has slanting lines, so
/// that they differ even without colour.
struct StoragePicture {
    std::string title;
    std::string subtitle;
    const StorageMap& map;
    StorageDetail detail = {};
    double scale = 1;  // enlarges everything; size_of ignores it
};

/// The arrays alone, without title and figures, for the column of a paper of this many pixels.
[[nodiscard]] StoragePicture paper_storage(const StorageMap& map, int pixels);

[[nodiscard]] PictureSize size_of(const StoragePicture& picture);
void draw(Canvas& canvas, const StoragePicture& picture);

}  // namespace workbench
