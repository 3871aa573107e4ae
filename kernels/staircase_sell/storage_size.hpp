// What Staircase SELL takes to store a matrix.
#pragma once

#include "pipeline/contract/storage_size.hpp"

namespace workbench {

/// Table 5.2: the slots alone, since the index arrays stay on the host.
[[nodiscard]] std::int64_t staircase_sell_size(Offset slots, const ElementSizes& sizes);

/// The slots of Staircase SELL over rows of ascending length in these groups (length_groups).
[[nodiscard]] Offset staircase_sell_slots(std::span<const Offset> ascending_lengths, std::span<const Index> groups,
                                          Index slice_height);

/// Over the rows in ascending length, with each alpha.
[[nodiscard]] std::vector<StorageSize> staircase_sell_storage_sizes(const StorageQuestion& question);

}  // namespace workbench
