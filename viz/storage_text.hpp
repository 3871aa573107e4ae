// The arrays of a layout, drawn as text.
#pragma once

#include <string>

#include "core/matrix/staged_matrix.hpp"
#include "viz/storage_map.hpp"

namespace workbench {

/// A matrix of few rows as text, with "." for a zero. Rows and columns that were reordered have their numbers in the input
/// beside them.
[[nodiscard]] std::string draw_matrix(const StagedMatrix& staged);

/// The arrays of a map by cell, and which lane reads which element in which step: lines of at most `width` letters, if names
/// and numbers leave room. Throws std::invalid_argument if the map is not by cell.
[[nodiscard]] std::string draw_storage(const StorageMap& map, std::size_t width = 80);

}  // namespace workbench
