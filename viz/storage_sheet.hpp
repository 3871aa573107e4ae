// What a layout stores, for a projector: a sheet of 16 : 9, and a bar at the foot of the sheet of all stages.
#pragma once

#include <string>

#include "viz/canvas.hpp"
#include "viz/storage_map.hpp"
#include "viz/style.hpp"

namespace workbench {

/// The arrays in memory, 1920 x 1080, with the largest text with which all of it fits. Where it does not fit with text of at
/// least 19 pixels in the cells, lines are left out, and the sheet says so; the whole is a StoragePicture.
[[nodiscard]] Image storage_sheet(const std::string& title, const std::string& subtitle, const StorageMap& map);

/// The same of the warps that are shown: who reads what. The map must have some.
[[nodiscard]] Image reads_sheet(const std::string& title, const std::string& subtitle, const StorageMap& map);

/// The height of storage_bar, of a sheet of 1920 x 1080.
inline constexpr int storage_bar_height = 104;

/// How much is stored, how much of it is padding, and all arrays one behind the other, as long as they take bytes.
void storage_bar(Canvas& canvas, const StorageMap& map, const Box& box, Unit unit);

}  // namespace workbench
