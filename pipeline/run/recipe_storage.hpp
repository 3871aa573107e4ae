// What the layouts of a recipe store (viz/storage_map.hpp), as the recipe names them.
#pragma once

#include <span>

#include "pipeline/run/hybrid.hpp"
#include "viz/storage_map.hpp"

namespace workbench {

/// Of the one layout of a recipe, beside the matrix that it was built from.
template <ValueType Value>
[[nodiscard]] StorageMap storage_of(const Recipe& recipe, const CsrMatrix& matrix, const Layout<Value>& layout);

/// Of a hybrid, whose shares are all built.
template <ValueType Value>
[[nodiscard]] StorageMap storage_of(const Recipe& recipe, const CsrMatrix& matrix, std::span<const BuiltShare<Value>> shares);

/// Builds the layouts of a recipe for a matrix that its stages have left behind, and nothing else. Throws Unsuitable where the
/// matrix does not fit.
template <ValueType Value>
[[nodiscard]] StorageMap storage_of(const Recipe& recipe, const StagedMatrix& staged);

}  // namespace workbench
