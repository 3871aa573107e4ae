// What CSR takes to store a matrix, and CSC, which is CSR by columns.
#pragma once

#include "pipeline/contract/storage_size.hpp"

namespace workbench {

/// Eq. 4.2, for CSR by the number of rows, for CSC by that of columns.
[[nodiscard]] std::int64_t csr_size(Index rows, Offset nonzeros, const ElementSizes& sizes);

[[nodiscard]] std::vector<StorageSize> csr_storage_sizes(const StorageQuestion& question);

}  // namespace workbench
