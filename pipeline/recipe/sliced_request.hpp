// Recipes that a device can prepare as a whole.
#pragma once

#include <optional>

#include "core/contract/sliced_on_device.hpp"
#include "pipeline/recipe/recipe.hpp"

namespace workbench {

/// The request of a recipe that consists of at most cuthill_mckee, then at most row_sort by the lengths of all rows or within
/// windows, then `sell` with values in full and columns of 16 or 32 bits, for matrices with one unknown a mesh node; or of
/// node_blocks, then the same stages, then `block_sell` with values in full; or of rcm_blocks of equally many rows, row_sort by
/// the nonzeros inside the partition, split by it, row_sort of the share outside, and `ehyb` with columns of 16 bits, for one
/// unknown a node. None for every other recipe.
[[nodiscard]] std::optional<SlicedRequest> sliced_request(const Recipe& recipe);

}  // namespace workbench
