// Recipes whose layouts round values (core/contract/rounding.hpp).
#pragma once

#include "core/contract/rounding.hpp"
#include "pipeline/recipe/recipe.hpp"

namespace workbench {

/// The coarsest rounding of its layouts.
[[nodiscard]] Rounding rounding_of(const Recipe& recipe);
[[nodiscard]] Rounding rounding_of(const Recipe& recipe, Precision precision);

/// Marks the name if a layout rounds values, and removes such a mark otherwise.
void mark_rounding(Recipe& recipe);

/// The same recipe with values in full where they would be rounded.
[[nodiscard]] Recipe in_full(Recipe recipe);

}  // namespace workbench
