// What sliced ELL takes to store a matrix.
#pragma once

#include "pipeline/contract/storage_size.hpp"

namespace workbench {

/// Eq. 4.5, with the columns.
[[nodiscard]] std::int64_t sell_size(Offset slices, Offset slots, const ElementSizes& sizes);

/// The slots of sliced ELL over rows of these lengths, in this order. The last slice is as high as the others.
[[nodiscard]] Offset sell_slots(std::span<const Offset> lengths, Index slice_height);

/// Over the rows in their present order and in ascending length.
[[nodiscard]] std::vector<StorageSize> sell_storage_sizes(const StorageQuestion& question);

}  // namespace workbench
