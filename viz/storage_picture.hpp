// What a layout stores, drawn: its arrays as memory, and which lane reads what in which step.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "viz/canvas.hpp"
#include "viz/chart.hpp"
#include "viz/storage_map.hpp"

namespace workbench {

/// How wide a picture is, and how much of a map it shows.
struct StorageRoom {
    int width = 1600;
    int cell_width = 39;  // at least
    bool memory_bar = true;
    bool arrays = true;
    bool lane_notes = true;                            // below cells: which lane reads them, and when
    int most_lines = std::numeric_limits<int>::max();  // of cells of an array; bins are joined until they fit
    std::size_t most_warps = most_shown_warps;
    std::int64_t most_steps = most_shown_steps;
};

/// A storage map with what stands above it. Draws as a chart does: image_of and svg_of.
///
/// Memory at scale comes first: one bar for all arrays. Then each array from left to right and line by line: cell by cell with
/// its numbers, or in bins that are filled as far as they hold nonzeros, so that the area of padding is its share. Values are
/// dark blue, columns green, structures a light violet, padding white with slanting lines: different in grey, too. At last some
/// warps, a column a lane, a line a step: what is white there is a lane that waits.
struct StoragePicture {
    std::string title;
    std::string subtitle;
    const StorageMap& map;
    StorageRoom room = {};
};

[[nodiscard]] ChartSize size_of(const StoragePicture& picture);
void draw(Canvas& canvas, const StoragePicture& picture);

[[nodiscard]] Filling filling_of(ArrayRole role);
[[nodiscard]] Filling filling_of_padding();

}  // namespace workbench
