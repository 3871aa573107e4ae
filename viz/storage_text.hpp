// The arrays of a layout, drawn as text.
#pragma once

#include <string>

#include "core/matrix/staged_matrix.hpp"
#include "viz/storage_map.hpp"

namespace workbench {

/// A matrix of few rows, "." where it has no nonzero; where rows or columns were reordered, with what they were in the input.
[[nodiscard]] std::string draw_matrix(const StagedMatrix& staged);

/// The arrays of a map by cell, and which lane reads what in which step: lines of at most `width` letters, where names and
/// numbers leave room. Throws std::invalid_argument where the map is not by cell.
[[nodiscard]] std::string draw_storage(const StorageMap& map, std::size_t width = 80);

}  // namespace workbench
