// One 6 x 6 matrix in a layout, for who wants to see what the layout does.
#pragma once

#include <string>
#include <vector>

#include "pipeline/contract/catalogue.hpp"
#include "pipeline/matrix/staged_matrix.hpp"
#include "viz/storage_map.hpp"

namespace workbench {

struct LayoutExample {
    std::string recipe;   // its stages and layout, as LayoutEntry::examples have them
    StagedMatrix staged;  // after the stages
    StorageMap storage;   // in f64
};

/// One for each of the layout's examples, or one of it as it is. Throws RecipeError or Unsuitable where an example is none.
[[nodiscard]] std::vector<LayoutExample> examples_of(const LayoutEntry& layout, const Catalogue& catalogue);

/// All of it in letters: the recipe, the matrix as the stages leave it, the arrays, and who reads what.
[[nodiscard]] std::string to_text(const LayoutExample& example);

}  // namespace workbench
