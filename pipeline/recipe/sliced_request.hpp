// Recipes that a device can prepare as a whole.
#pragma once

#include <optional>

#include "pipeline/contract/sliced_on_device.hpp"
#include "pipeline/recipe/recipe.hpp"

namespace workbench {

/// The request of a recipe that consists of at most cuthill_mckee, then at most row_sort by the lengths of all rows or within
/// windows, then `sell` with values in full and columns of 16 or 32 bits. None for every other recipe, and for matrices with
/// several unknowns a mesh node.
[[nodiscard]] std::optional<SlicedRequest> sliced_request(const Recipe& recipe);

}  // namespace workbench
