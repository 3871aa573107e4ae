#include "pipeline/recipe/rounding_of_recipe.hpp"

#include <algorithm>

namespace workbench {

Rounding rounding_of(const Recipe& recipe) {
    Rounding coarsest = Rounding::none;
    for (const RecipeLayout& layout : recipe.layouts) coarsest = std::max(coarsest, rounding_of(layout.parameters));
    return coarsest;
}

Rounding rounding_of(const Recipe& recipe, Precision precision) {
    Rounding coarsest = Rounding::none;
    for (const RecipeLayout& layout : recipe.layouts) coarsest = std::max(coarsest, rounding_of(layout.parameters, precision));
    return coarsest;
}

void mark_rounding(Recipe& recipe) { recipe.name = marked(unmarked(recipe.name), rounding_of(recipe)); }

Recipe in_full(Recipe recipe) {
    for (RecipeLayout& layout : recipe.layouts) {
        if (rounding_of(layout.parameters) == Rounding::none) continue;
        layout.parameters = layout.parameters.with("values", std::string("full"));
    }
    mark_rounding(recipe);
    return recipe;
}

}  // namespace workbench
