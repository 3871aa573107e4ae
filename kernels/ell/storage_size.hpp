// What ELL takes to store a matrix.
#pragma once

#include "pipeline/contract/storage_size.hpp"

namespace workbench {

/// Eq. 4.4, with the number of rows.
[[nodiscard]] std::int64_t ell_size(Index rows, Offset longest_row, const ElementSizes& sizes);

[[nodiscard]] std::vector<StorageSize> ell_storage_sizes(const StorageQuestion& question);

}  // namespace workbench
