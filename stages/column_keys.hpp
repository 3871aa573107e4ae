// Keys that sort rows by their columns.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/matrix/csr_matrix.hpp"
#include "core/matrix/shares.hpp"

namespace workbench {

enum class ColumnKey {
    first_column,  // of the row's first nonzero; the number of columns for an empty row
    span,          // columns from the first to the last nonzero; 0 for an empty row
    similarity,    // the rank of a signature: rows with the same set of columns have one key, similar rows often
};

/// The key of this name; none for other names.
[[nodiscard]] std::optional<ColumnKey> column_key(std::string_view name);

/// The keys of the rows of a view, where a node has the columns of all its rows. [rows / node_size]
///
/// A signature has four numbers; each is the smallest hash of the row's columns, which is the same for two rows with a
/// probability of their Jaccard similarity (Broder 1997). Signatures are ranked lexicographically, those of empty rows last.
[[nodiscard]] std::vector<Index> column_keys(ColumnKey key, const CsrMatrix& matrix, const ShareView& view, Index node_size,
                                             bool in_parallel);

}  // namespace workbench
