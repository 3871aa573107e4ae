// What a layout stores, as JSON.
#pragma once

#include <string>

#include "viz/storage_map.hpp"

namespace workbench {

/// One JSON object in one line, of the shape that viz/storage_map.hpp describes.
[[nodiscard]] std::string to_json(const StorageMap& map);

}  // namespace workbench
