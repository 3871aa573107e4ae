// The sizes of a matrix in several formats according to the literature, computed without building them, for `workbench
// storage`. In bytes, saturated at 2^63 - 1. Source: Wikberg, "Unstructured Mesh FVM with GPU" (2025), section 4.2.3, eq.
// 4.1-4.5, and table 5.2.
//
// Differences between the source and the layouts here:
//  - Eq. 4.4 (ELLPACK) lacks the factor of the number of rows.
//  - Eq. 4.5 (SELL) lacks the column indices, which table 5.2 counts (12 bytes per slot). Table 5.2 counts one pointer per
//    slice, eq. 4.5 one more.
//  - |int| is the size of every index, 32 bits; offsets of nonzeros or slots are stored in 64 bits here.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/contract/catalogue.hpp"

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

/// The sizes in all layouts: first layouts without slices, then layouts with slices for each slice height.
[[nodiscard]] std::vector<StorageSize> storage_sizes(const Catalogue& catalogue, const CsrMatrix& matrix,
                                                     std::span<const Index> slice_heights, std::span<const double> alphas,
                                                     const ElementSizes& sizes);

/// [rows] The number of nonzeros of each row.
[[nodiscard]] std::vector<Offset> row_lengths(const CsrMatrix& matrix);

// For LayoutEntry::storage_sizes.
[[nodiscard]] std::vector<StorageSize> coo_storage_sizes(const StorageQuestion& question);
[[nodiscard]] std::vector<StorageSize> csr_storage_sizes(const StorageQuestion& question);
[[nodiscard]] std::vector<StorageSize> csc_storage_sizes(const StorageQuestion& question);
[[nodiscard]] std::vector<StorageSize> bsr_storage_sizes(const StorageQuestion& question);  // blocks of 2, 3 and 4
[[nodiscard]] std::vector<StorageSize> ell_storage_sizes(const StorageQuestion& question);
[[nodiscard]] std::vector<StorageSize> sell_storage_sizes(const StorageQuestion& question);  // in this order and by length

}  // namespace workbench
