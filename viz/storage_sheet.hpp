// The picture of a storage map on 16:9 sheets, for a projector.
#pragma once

#include <string>

#include "viz/image.hpp"
#include "viz/storage_map.hpp"

namespace workbench {

/// The arrays in memory, 1920 x 1080, with the largest text that lets all of it fit. If it does not fit with text of 19 pixels
/// in the cells, the sheet omits lines and says so.
[[nodiscard]] Image storage_sheet(const std::string& title, const std::string& subtitle, const StorageMap& map);

/// The reads of the shown warps on a sheet of the same size. The map must have some (has_reads).
[[nodiscard]] Image reads_sheet(const std::string& title, const std::string& subtitle, const StorageMap& map);

}  // namespace workbench
