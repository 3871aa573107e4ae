// What formats take to store a matrix, counted before anything is built. Source: Wikberg, "Unstructured Mesh FVM with GPU"
// (2025), section 4.2.3, eq. 4.1-4.5, and table 5.2. In bytes; sums beyond 2^63 - 1 are given as that.
//
// Where the source and what is stored differ:
//  - Eq. 4.4 (ELLPACK) lacks the number of rows: every one of them has as many slots as the longest.
//  - Eq. 4.5 (SELL) lacks the column indices. The sizes of table 5.2 have them, 12 bytes a slot; they count as many pointers
//    as slices, where eq. 4.5 has one more.
//  - |int| stands for every index, 32 bits; layouts here whose offsets count nonzeros or slots keep these in 64.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pipeline/matrix/csr_matrix.hpp"

namespace workbench {

/// Bytes of an element.
struct ElementSizes {
    std::int64_t value = 8;   // |f|
    std::int64_t index = 4;   // |int|
    std::int64_t offset = 4;  // |int| of the source, where it points at nonzeros, slots or blocks
};

/// Eq. 4.1: a row, a column and a value for each nonzero.
[[nodiscard]] std::int64_t coo_size(Offset nonzeros, const ElementSizes& sizes);

/// Eq. 4.2, for CSR by the number of rows, for CSC by that of columns.
[[nodiscard]] std::int64_t csr_size(Index rows, Offset nonzeros, const ElementSizes& sizes);

/// Eq. 4.3: block_size x block_size values and a column for each block, and a pointer for each row of blocks, rows / block_size
/// rounded up.
[[nodiscard]] std::int64_t bsr_size(Index rows, Offset blocks, Index block_size, const ElementSizes& sizes);

/// Eq. 4.4, with the number of rows.
[[nodiscard]] std::int64_t ell_size(Index rows, Offset longest_row, const ElementSizes& sizes);

/// Eq. 4.5, with the columns.
[[nodiscard]] std::int64_t sell_size(Offset slices, Offset slots, const ElementSizes& sizes);

/// Table 5.2: the slots alone, since the index arrays stay on the host.
[[nodiscard]] std::int64_t staircase_sell_size(Offset slots, const ElementSizes& sizes);

/// Blocks of block_size x block_size, counted from the first row and column on, that hold a nonzero.
[[nodiscard]] Offset count_blocks(const CsrMatrix& matrix, Index block_size);

/// The number of nonzeros of each row. [rows]
[[nodiscard]] std::vector<Offset> row_lengths(const CsrMatrix& matrix);

/// The slots of sliced ELL over rows of these lengths, in this order. The last slice is as high as the others.
[[nodiscard]] Offset sell_slots(std::span<const Offset> lengths, Index slice_height);

/// The slots of Staircase SELL over rows of ascending length in these groups (length_groups).
[[nodiscard]] Offset staircase_sell_slots(std::span<const Offset> ascending_lengths, std::span<const Index> groups,
                                          Index slice_height);

/// One format and what it takes.
struct StorageSize {
    std::string format;                // "SELL by length"
    Index height = 0;                  // rows of a slice or of a block; 0: it has none
    std::optional<double> alpha = {};  // of Staircase SELL
    Offset slots = 0;                  // places for a nonzero, padding included
    std::int64_t bytes = 0;
};

/// All of these formats for one matrix: BSR with blocks of 2, 3 and 4; SELL with each slice height, over the rows in their
/// present order and in ascending length; Staircase SELL, which is in that order, with each slice height and each alpha.
[[nodiscard]] std::vector<StorageSize> storage_sizes(const CsrMatrix& matrix, std::span<const Index> slice_heights,
                                                     std::span<const double> alphas, const ElementSizes& sizes);

}  // namespace workbench
