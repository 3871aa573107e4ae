// What a layout stores, drawn: its arrays as memory, and which lane reads what in which step.
#pragma once

#include <string>
#include <string_view>

#include "viz/canvas.hpp"
#include "viz/chart.hpp"
#include "viz/storage_map.hpp"

namespace workbench {

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
};

[[nodiscard]] ChartSize size_of(const StoragePicture& picture);
void draw(Canvas& canvas, const StoragePicture& picture);

/// The bar of memory at scale and the arrays of values alone, for a sheet that has room for little. At least 600 pixels wide.
[[nodiscard]] Image storage_strip(const StorageMap& map, int width);

}  // namespace workbench
