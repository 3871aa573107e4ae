// The sizes of formats according to the literature, for `workbench storage`: the source and its differences from what is stored
// are at the head of core/contract/storage_size.hpp.
#pragma once

#include "core/contract/storage_size.hpp"

namespace workbench {

/// Eq. 4.1: a row, a column and a value for each nonzero.
[[nodiscard]] std::int64_t coo_size(Offset nonzeros, const ElementSizes& sizes);

/// Eq. 4.2, of CSR by the number of rows, of CSC by that of columns.
[[nodiscard]] std::int64_t csr_size(Index rows, Offset nonzeros, const ElementSizes& sizes);

/// Eq. 4.3: block_size x block_size values and a column for each block, and a pointer for each row of blocks, of which there
/// are rows / block_size, rounded up.
[[nodiscard]] std::int64_t bsr_size(Index rows, Offset blocks, Index block_size, const ElementSizes& sizes);

/// The number of blocks of block_size x block_size, counted from the first row and column, that hold a nonzero.
[[nodiscard]] Offset count_blocks(const CsrMatrix& matrix, Index block_size);

/// Eq. 4.4, with the number of rows.
[[nodiscard]] std::int64_t ell_size(Index rows, Offset longest_row, const ElementSizes& sizes);

/// Eq. 4.5, with the columns.
[[nodiscard]] std::int64_t sell_size(Offset slices, Offset slots, const ElementSizes& sizes);

/// The slots of sliced ELL over rows of these lengths, in this order. The last slice is as high as the others.
[[nodiscard]] Offset sell_slots(std::span<const Offset> lengths, Index slice_height);

/// Table 5.2: the slots alone, since the index arrays stay on the host.
[[nodiscard]] std::int64_t staircase_sell_size(Offset slots, const ElementSizes& sizes);

/// The slots of Staircase SELL over rows of ascending length in these groups (length_groups).
[[nodiscard]] Offset staircase_sell_slots(std::span<const Offset> ascending_lengths, std::span<const Index> groups,
                                          Index slice_height);

// For LayoutEntry::storage_sizes.
[[nodiscard]] std::vector<StorageSize> coo_storage_sizes(const StorageQuestion& question);
[[nodiscard]] std::vector<StorageSize> csr_storage_sizes(const StorageQuestion& question);
[[nodiscard]] std::vector<StorageSize> csc_storage_sizes(const StorageQuestion& question);
[[nodiscard]] std::vector<StorageSize> bsr_storage_sizes(const StorageQuestion& question);  // blocks of 2, 3 and 4
[[nodiscard]] std::vector<StorageSize> ell_storage_sizes(const StorageQuestion& question);
[[nodiscard]] std::vector<StorageSize> sell_storage_sizes(const StorageQuestion& question);  // in this order and by length

}  // namespace workbench
