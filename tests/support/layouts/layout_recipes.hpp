// The recipes of tests/layouts: at least one per layout, with the stages that it needs. All tests of common properties of
// layouts run them, on the host and on a GPU: the test of a new layout is one file there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/contract/layout.hpp"
#include "core/matrix/battery.hpp"
#include "pipeline/recipe/recipe.hpp"

namespace workbench {

struct LayoutRecipe {
    std::string name;  // of the file, without .toml
    Recipe recipe;

    /// The layout of a recipe that is not a hybrid.
    [[nodiscard]] const LayoutEntry& layout() const { return *recipe.layouts.front().entry; }

    /// Returns true if the recipe suits a matrix of this shape.
    [[nodiscard]] bool takes(const CsrMatrix& matrix) const;

    /// The matrix after the recipe's stages.
    [[nodiscard]] StagedMatrix stage(const CsrMatrix& matrix) const;

    /// The matrices to test it with: the battery, and for layouts that code values also matrices whose values are equal or
    /// exact in f32.
    [[nodiscard]] const std::vector<NamedMatrix>& matrices() const;

    template <ValueType Value>
    [[nodiscard]] std::unique_ptr<Layout<Value>> build(const StagedMatrix& staged) const {
        return layout().build_for<Value>(staged, recipe.layouts.front().parameters);
    }
    /// The layout of `staged`, which has other values than `real`, stored like those of `real`.
    template <ValueType Value>
    [[nodiscard]] std::unique_ptr<Layout<Value>> build_like(const CsrMatrix& real, const StagedMatrix& staged) const {
        const Parameters settled =
            layout().settled(recipe.layouts.front().parameters, real, precision_of<Value>, staged.node_size);
        return layout().build_for<Value>(staged, settled);
    }
};

/// Sorted by name, from $WORKBENCH_LAYOUT_RECIPES or the source folder. Throws if there are none.
[[nodiscard]] const std::vector<LayoutRecipe>& layout_recipes();

/// The recipes of the folder `hybrids` in it, with several layouts, each for one share.
[[nodiscard]] const std::vector<LayoutRecipe>& hybrid_recipes();

}  // namespace workbench
