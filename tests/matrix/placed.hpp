// Small matrices whose entries tell where they came from.
#pragma once

#include <utility>
#include <vector>

#include "pipeline/matrix/csr_matrix.hpp"

namespace workbench {

/// 10 r + c at the places named, counted from 0.
inline CsrMatrix placed(Index rows, Index columns, const std::vector<std::pair<Index, Index>>& places) {
    std::vector<Entry> entries;
    for (const auto& [row, column] : places) entries.push_back({row, column, 10.0 * row + column});
    return csr_from_entries(rows, columns, entries);
}

}  // namespace workbench
