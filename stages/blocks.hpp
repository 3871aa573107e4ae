// Cutting an axis into pieces of equal size, and the parameters that ask for it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "pipeline/contract/parameters.hpp"
#include "pipeline/matrix/types.hpp"

namespace workbench {

/// Boundaries of pieces of `size` >= 1; the last piece may be smaller. No piece where the length is 0.
[[nodiscard]] std::vector<Index> boundaries_by_size(Index length, std::int64_t size);

/// Boundaries of `count` >= 1 pieces whose sizes differ by 1 at most; of `length` pieces where that is less.
[[nodiscard]] std::vector<Index> boundaries_by_count(Index length, std::int64_t count);

/// Throws ParameterError unless exactly one of these optional parameters is given.
void require_one_of(const Parameters& parameters, const std::vector<std::string_view>& names);

}  // namespace workbench
