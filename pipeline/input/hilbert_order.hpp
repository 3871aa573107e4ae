// The nodes of a grid in space, along a curve that fills it.
#pragma once

#include <array>
#include <cstdint>

#include "pipeline/matrix/permutation.hpp"

namespace workbench {

/// From the natural numbering of lengths[0] x lengths[1] x lengths[2] nodes, x fastest, to their order along a Hilbert curve
/// through the smallest cube of 2^k nodes an edge that holds the grid. Where a length is a power of two and all are alike,
/// nodes that follow each other are neighbours. Of a grid longer than 2^21 nodes, k = 21: equal pieces of it are taken for one
/// place, and stay in the natural order. There are less than 2^31 nodes. Source: Skilling, "Programming the Hilbert curve"
/// (2004).
[[nodiscard]] Permutation hilbert_order(const std::array<std::int64_t, 3>& lengths);

}  // namespace workbench
