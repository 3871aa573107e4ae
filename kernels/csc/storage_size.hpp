// What CSC takes to store a matrix: what CSR takes of its transpose.
#pragma once

#include "pipeline/contract/storage_size.hpp"

namespace workbench {

[[nodiscard]] std::vector<StorageSize> csc_storage_sizes(const StorageQuestion& question);

}  // namespace workbench
