// The files beside a recipe, whose contents decide what a measurement measures.
#pragma once

#include <string>

#include "pipeline/recipe/recipe.hpp"

namespace workbench {

/// The names and checksums of the files that stages, layouts and kernels of the recipe bring, in its order, each with the files
/// that it includes: "spmv.cpp 0123..., order.npy 4567...". Empty if the recipe brings none. The matrix is none of them.
[[nodiscard]] std::string contents_of_files(const Recipe& recipe);

}  // namespace workbench
