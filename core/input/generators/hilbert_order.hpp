// Grid nodes ordered along a space-filling curve.
#pragma once

#include <array>
#include <cstdint>

#include "core/matrix/permutation.hpp"

namespace workbench {

/// The order of lengths[0] x lengths[1] x lengths[2] nodes (fewer than 2^31) along a Hilbert curve through the smallest cube of
/// 2^k nodes per edge that holds the grid; the natural numbering has x fastest. Consecutive nodes are neighbours if all lengths
/// are the same power of two. A grid longer than 2^21 nodes uses k = 21: nodes that share a place on the curve keep their
/// natural order. Source: Skilling, "Programming the Hilbert curve" (2004).
[[nodiscard]] Permutation hilbert_order(const std::array<std::int64_t, 3>& lengths);

}  // namespace workbench
