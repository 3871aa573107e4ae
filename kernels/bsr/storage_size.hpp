// What BSR takes to store a matrix.
#pragma once

#include "pipeline/contract/storage_size.hpp"

namespace workbench {

/// Eq. 4.3: block_size x block_size values and a column for each block, and a pointer for each row of blocks, rows / block_size
/// rounded up.
[[nodiscard]] std::int64_t bsr_size(Index rows, Offset blocks, Index block_size, const ElementSizes& sizes);

/// Blocks of block_size x block_size, counted from the first row and column on, that hold a nonzero.
[[nodiscard]] Offset count_blocks(const CsrMatrix& matrix, Index block_size);

/// With blocks of 2, 3 and 4.
[[nodiscard]] std::vector<StorageSize> bsr_storage_sizes(const StorageQuestion& question);

}  // namespace workbench
