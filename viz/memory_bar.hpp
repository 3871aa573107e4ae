// All arrays of a storage map in one bar, in proportion to their bytes, and the colours that arrays have in all pictures.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "viz/canvas.hpp"
#include "viz/palette.hpp"
#include "viz/storage_map.hpp"
#include "viz/style.hpp"

namespace workbench {

[[nodiscard]] Filling filling_of(ArrayRole role);
inline constexpr Filling padding_filling{white, padding_colour};

/// The part of the bar that shows one array. The padding is at its end.
struct BarPiece {
    const StoragePart& part;
    const StorageArray& array;
    Box box;
    int padding_width = 0;
};

/// `round` converts the ends of pieces to whole pixels.
[[nodiscard]] std::vector<BarPiece> memory_bar(const StorageMap& map, const Box& bar, double (*round)(double));
/// The boxes of a piece, in drawing order. `divider`: the width of the line at its beginning.
[[nodiscard]] std::array<std::pair<Box, Filling>, 3> boxes_of(const BarPiece& piece, int divider);

/// The nominal height of storage_bar.
inline constexpr int storage_bar_height = 104;

/// Draws the totals of a map, a legend and its memory bar.
void storage_bar(Canvas& canvas, const StorageMap& map, const Box& box, Unit unit);

}  // namespace workbench
