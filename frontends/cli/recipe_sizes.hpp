// The size of the layouts that recipes build, for workbench storage.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pipeline/recipe/recipe.hpp"
#include "pipeline/report/report.hpp"

namespace workbench {

/// The sizes of the layouts of a recipe, built from the matrix after its stages; for a hybrid the sums over its layouts.
struct RecipeSize {
    std::string recipe;  // its name, and the values of a sweep
    LayoutOutcome f32;
    LayoutOutcome f64;

    /// The share of the slots without a nonzero; none if slots contain more than one nonzero, or there are no slots.
    [[nodiscard]] std::optional<double> padding() const;
};

/// The recipes that share a matrix.
struct RecipeSizes {
    MatrixReport matrix;
    std::vector<RecipeSize> recipes;
};

/// Reads each matrix once, and builds the layouts of each recipe in both precisions. Runs no kernel. A layout that does not
/// suit the matrix has its reason in `unsuitable`. Throws as running the stages does.
[[nodiscard]] std::vector<RecipeSizes> recipe_sizes(std::vector<Recipe> recipes);

/// A table per matrix.
[[nodiscard]] std::string to_text(const std::vector<RecipeSizes>& sizes);

/// One object with a list of recipes.
[[nodiscard]] std::string to_json(const std::vector<RecipeSizes>& sizes);

}  // namespace workbench
