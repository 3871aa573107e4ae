// Small matrices whose values encode their places.
#pragma once

#include <utility>
#include <vector>

#include "core/matrix/csr_matrix.hpp"

namespace workbench {

/// A matrix with the value 10 r + c at each of the places (r, c).
inline CsrMatrix placed(Index rows, Index columns, const std::vector<std::pair<Index, Index>>& places) {
    std::vector<Entry> entries;
    for (const auto& [row, column] : places) entries.push_back({row, column, 10.0 * row + column});
    return csr_from_entries(rows, columns, entries);
}

}  // namespace workbench
