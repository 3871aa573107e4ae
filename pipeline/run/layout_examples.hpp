// One 6 x 6 matrix in a layout, as an explanation of the layout.
#pragma once

#include <string>
#include <vector>

#include "core/contract/catalogue.hpp"
#include "core/matrix/staged_matrix.hpp"
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

}  // namespace workbench
