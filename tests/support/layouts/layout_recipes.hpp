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

    [[nodiscard]] const LayoutEntry& layout() const { return *recipe.layout.entry; }

    /// Does the recipe suit a matrix of this shape?
    [[nodiscard]] bool takes(const CsrMatrix& matrix) const;

    /// The matrix after the recipe's stages.
    [[nodiscard]] StagedMatrix stage(const CsrMatrix& matrix) const;

    template <ValueType Value>
    [[nodiscard]] std::unique_ptr<Layout<Value>> build(const StagedMatrix& staged) const {
        return layout().build.template get<Value>()(staged, recipe.layout.parameters);
    }
};

/// By name. They lie in $WORKBENCH_LAYOUT_RECIPES, or in the source folder. Throws where there are none.
[[nodiscard]] const std::vector<LayoutRecipe>& layout_recipes();

}  // namespace workbench
