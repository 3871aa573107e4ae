// Checks of the sizes that a file claims, before memory is allocated for them.
#pragma once

#include "pipeline/input/words.hpp"
#include "pipeline/matrix/types.hpp"

namespace workbench {

/// Throws LineError unless a matrix may have this size. Rows and columns must be fewer than 2^31. If there are more than 2^24
/// of them, the file must have an entry for every 64, so that arrays over rows and columns stay proportional to the file.
void check_size(std::int64_t rows, std::int64_t columns, Offset entries);

/// Like check_size, before the number of entries is known: checks only that rows and columns are fewer than 2^31.
void check_size(std::int64_t rows, std::int64_t columns);

}  // namespace workbench
