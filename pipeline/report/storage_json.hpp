// The arrays that a layout stores, as JSON.
#pragma once

#include <string>

#include "viz/storage_map.hpp"

namespace workbench {

/// One JSON object on one line, in the format that viz/storage_map.hpp describes.
[[nodiscard]] std::string to_json(const StorageMap& map);

}  // namespace workbench
