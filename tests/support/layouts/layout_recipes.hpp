// The recipes of tests/layouts: at least one a layout, with the stages that it needs. All tests of what every layout must do
// run over them, on the host and on a GPU: a new layout's test is one file there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pipeline/contract/layout.hpp"
#include "pipeline/recipe/recipe.hpp"

namespace workbench {

struct LayoutRecipe {
    std::string name;  // of the file
    Recipe recipe;

    /// Of a recipe that is no hybrid.
    [[nodiscard]] const LayoutEntry& layout() const { return *recipe.layouts.front().entry; }

    /// Does the recipe suit a matrix of this shape?
    [[nodiscard]] bool takes(const CsrMatrix& matrix) const;

    /// The matrix after the recipe's stages.
    [[nodiscard]] StagedMatrix stage(const CsrMatrix& matrix) const;

    template <ValueType Value>
    [[nodiscard]] std::unique_ptr<Layout<Value>> build(const StagedMatrix& staged) const {
        return layout().build_for<Value>(staged, recipe.layouts.front().parameters);
    }
};

/// By name. They lie in $WORKBENCH_LAYOUT_RECIPES, or in the source folder. Throws where there are none.
[[nodiscard]] const std::vector<LayoutRecipe>& layout_recipes();

/// The same of the folder `hybrids` in it: recipes with several layouts, each for a share.
[[nodiscard]] const std::vector<LayoutRecipe>& hybrid_recipes();

}  // namespace workbench
