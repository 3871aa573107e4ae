// The sizes of a matrix in several formats, computed without building them (LayoutEntry::storage_sizes). In bytes, saturated at
// 2^63 - 1. Source: Wikberg, "Unstructured Mesh FVM with GPU" (2025), section 4.2.3, eq. 4.1-4.5, and table 5.2.
//
// Differences between the source and the layouts here:
//  - Eq. 4.4 (ELLPACK) lacks the factor of the number of rows.
//  - Eq. 4.5 (SELL) lacks the column indices, which table 5.2 counts (12 bytes per slot). Table 5.2 counts one pointer per
//  slice,
//    eq. 4.5 one more.
//  - |int| is the size of every index, 32 bits; offsets of nonzeros or slots are stored in 64 bits here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/matrix/csr_matrix.hpp"

namespace workbench {

struct Catalogue;

/// Bytes per element.
struct ElementSizes {
    std::int64_t value = 8;   // |f|
    std::int64_t index = 4;   // |int|
    std::int64_t offset = 4;  // |int| for offsets of nonzeros, slots or blocks
};

/// The size of the matrix in one format.
struct StorageSize {
    std::string format;                // "SELL by length"
    std::string source;                // "eq. 4.5"; sizes are sorted by it
    Index height = 0;                  // rows of a slice or block; 0: the format has none
    std::optional<double> alpha = {};  // of Staircase SELL
    Offset slots = 0;                  // including padding
    std::int64_t bytes = 0;
};

/// The input of a size computation.
struct StorageQuestion {
    const CsrMatrix& matrix;
    std::span<const Offset> lengths;            // [rows] nonzeros of each row
    std::span<const Offset> ascending_lengths;  // [rows] the same, sorted
    Index slice_height = 0;                     // for layouts that have this parameter
    std::span<const double> alphas;
    ElementSizes sizes;
};

using StorageSizes = std::vector<StorageSize> (*)(const StorageQuestion&);

/// The sizes in all layouts: first layouts without slices, then layouts with slices for each slice height.
[[nodiscard]] std::vector<StorageSize> storage_sizes(const Catalogue& catalogue, const CsrMatrix& matrix,
                                                     std::span<const Index> slice_heights, std::span<const double> alphas,
                                                     const ElementSizes& sizes);

/// [rows] The number of nonzeros of each row.
[[nodiscard]] std::vector<Offset> row_lengths(const CsrMatrix& matrix);

/// a * b and a + b for a, b >= 0, saturated at 2^63 - 1.
[[nodiscard]] std::int64_t bounded_product(std::int64_t a, std::int64_t b);
[[nodiscard]] std::int64_t bounded_sum(std::int64_t a, std::int64_t b);

/// The smallest multiple of `unit` that is at least `count`.
[[nodiscard]] Offset rounded_up(Offset count, Index unit);

}  // namespace workbench
