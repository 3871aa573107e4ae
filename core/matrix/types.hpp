// The two integer types of the whole program.
#pragma once

#include <cstdint>

namespace workbench {

/// A row or a column, or a count of them. Rows and columns are below 2^31.
using Index = std::int32_t;

/// A position among the nonzeros, or a count of them.
using Offset = std::int64_t;

}  // namespace workbench
