// The implementation of the header's Recipe.
#pragma once

#include <spmv_workbench/spmv_workbench.hpp>

#include "pipeline/recipe/recipe.hpp"

namespace spmv_workbench {

struct __attribute__((visibility("hidden"))) Recipe::Checked {
    workbench::Recipe recipe;  // without a matrix
};

}  // namespace spmv_workbench
