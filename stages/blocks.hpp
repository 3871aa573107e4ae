// Cuts an axis into pieces of equal size.
#pragma once

#include <cstdint>
#include <vector>

#include "core/matrix/types.hpp"

namespace workbench {

/// Boundaries of pieces of `size` >= 1; the last piece may be smaller. There are no pieces if the length is 0.
[[nodiscard]] std::vector<Index> boundaries_by_size(Index length, std::int64_t size);

/// Boundaries of min(count, length) pieces, count >= 1, whose sizes differ by at most 1.
[[nodiscard]] std::vector<Index> boundaries_by_count(Index length, std::int64_t count);

}  // namespace workbench
