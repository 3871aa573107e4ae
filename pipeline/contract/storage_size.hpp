// The sizes of a matrix in several formats, counted before anything is built, by the layouts that know theirs
// (LayoutEntry::storage_sizes). Source: Wikberg, "Unstructured Mesh FVM with GPU" (2025), section 4.2.3, eq. 4.1-4.5, and
// table 5.2. In bytes; sums beyond 2^63 - 1 are given as that.
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

struct Catalogue;

/// Bytes of an element.
struct ElementSizes {
    std::int64_t value = 8;   // |f|
    std::int64_t index = 4;   // |int|
    std::int64_t offset = 4;  // |int| of the source, where it points at nonzeros, slots or blocks
};

/// One format and what it takes.
struct StorageSize {
    std::string format;                // "SELL by length"
    std::string source;                // "eq. 4.5"; sizes are listed in this order
    Index height = 0;                  // rows of a slice or of a block; 0: it has none
    std::optional<double> alpha = {};  // of Staircase SELL
    Offset slots = 0;                  // places for a nonzero, padding included
    std::int64_t bytes = 0;
};

/// What the sizes are counted from.
struct StorageQuestion {
    const CsrMatrix& matrix;
    std::span<const Offset> lengths;            // [rows] nonzeros of each row
    std::span<const Offset> ascending_lengths;  // [rows] the same, sorted
    Index slice_height = 0;                     // asked of layouts that have a parameter of that name
    std::span<const double> alphas;
    ElementSizes sizes;
};

using StorageSizes = std::vector<StorageSize> (*)(const StorageQuestion&);

/// The answers of all layouts: first of those without slices, then, for each slice height, of those with slices.
[[nodiscard]] std::vector<StorageSize> storage_sizes(const Catalogue& catalogue, const CsrMatrix& matrix,
                                                     std::span<const Index> slice_heights, std::span<const double> alphas,
                                                     const ElementSizes& sizes);

/// The number of nonzeros of each row. [rows]
[[nodiscard]] std::vector<Offset> row_lengths(const CsrMatrix& matrix);

/// a * b and a + b of numbers >= 0, at most 2^63 - 1.
[[nodiscard]] std::int64_t bounded_product(std::int64_t a, std::int64_t b);
[[nodiscard]] std::int64_t bounded_sum(std::int64_t a, std::int64_t b);

/// The least multiple of `unit` that is at least `count`.
[[nodiscard]] Offset rounded_up(Offset count, Index unit);

}  // namespace workbench
