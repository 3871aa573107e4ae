// The storage maps of a recipe's layouts (viz/storage_map.hpp), and of one 6 x 6 matrix in a layout, as an explanation of the
// layout.
#pragma once

#include <string>
#include <vector>

#include "core/contract/catalogue.hpp"
#include "core/matrix/staged_matrix.hpp"
#include "pipeline/engine/built_layouts.hpp"
#include "viz/storage_map.hpp"

namespace workbench {

struct LayoutExample {
    std::string recipe;   // its stages and layout, as LayoutEntry::examples have them
    StagedMatrix staged;  // after the stages
    StorageMap storage;   // in f64
};

/// One for each of the layout's examples, or one of the layout alone if it has none. Throws RecipeError or Unsuitable if an
/// example is invalid.
[[nodiscard]] std::vector<LayoutExample> examples_of(const LayoutEntry& layout, const Catalogue& catalogue);

/// The example as text: the recipe, the matrix after the stages, the arrays, and which thread reads what.
[[nodiscard]] std::string to_text(const LayoutExample& example);

/// Maps layouts that were built from this matrix; all of them must be suitable.
template <ValueType Value>
[[nodiscard]] StorageMap storage_of(const Recipe& recipe, const CsrMatrix& matrix, const BuiltLayouts<Value>& built);

/// Builds the layouts of a recipe for the matrix after its stages, and maps them. Throws Unsuitable if the matrix
/// does not fit.
template <ValueType Value>
[[nodiscard]] StorageMap storage_of(const Recipe& recipe, StagedMatrix staged);

}  // namespace workbench
