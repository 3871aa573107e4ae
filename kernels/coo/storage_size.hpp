// What COO takes to store a matrix.
#pragma once

#include "pipeline/contract/storage_size.hpp"

namespace workbench {

/// Eq. 4.1: a row, a column and a value for each nonzero.
[[nodiscard]] std::int64_t coo_size(Offset nonzeros, const ElementSizes& sizes);

[[nodiscard]] std::vector<StorageSize> coo_storage_sizes(const StorageQuestion& question);

}  // namespace workbench
