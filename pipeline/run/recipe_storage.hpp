// The storage maps of a recipe's layouts (viz/storage_map.hpp).
#pragma once

#include "pipeline/engine/built_layouts.hpp"
#include "viz/storage_map.hpp"

namespace workbench {

/// Maps layouts that were built from this matrix; all of them must be suitable.
template <ValueType Value>
[[nodiscard]] StorageMap storage_of(const Recipe& recipe, const CsrMatrix& matrix, const BuiltLayouts<Value>& built);

/// Builds the layouts of a recipe for the matrix after its stages, and maps them. Throws Unsuitable if the matrix
/// does not fit.
template <ValueType Value>
[[nodiscard]] StorageMap storage_of(const Recipe& recipe, StagedMatrix staged);

}  // namespace workbench
