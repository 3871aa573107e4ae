// Recipes that are measured for comparison only.
#pragma once

#include <algorithm>

#include "pipeline/recipe/recipe.hpp"

namespace workbench {

/// True if a stage of the recipe is a control (StageEntry::is_control), so that no advice may name the recipe.
[[nodiscard]] inline bool is_control(const Recipe& recipe) {
    return std::any_of(recipe.stages.begin(), recipe.stages.end(),
                       [](const RecipeStage& stage) { return stage.entry->is_control; });
}

}  // namespace workbench
