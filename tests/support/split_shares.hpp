// Shares of a matrix for tests.
#pragma once

#include <vector>

#include "core/matrix/staged_matrix.hpp"

namespace workbench {

/// Puts entry (row, column) into share share_of(row, column). Each share stores its nonempty rows in descending order. The
/// caller sets the ids.
template <typename ShareOf>
std::vector<Share> split_shares(const CsrMatrix& matrix, int count, const ShareOf& share_of) {
    std::vector<Share> shares(count);
    for (Index row = matrix.rows - 1; row >= 0; --row) {
        for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
            shares[share_of(row, matrix.column_indices[k])].entries.push_back(k);
        }
        for (Share& share : shares) {
            if (static_cast<Offset>(share.entries.size()) == share.row_offsets.back()) continue;
            share.rows.push_back(row);
            share.row_offsets.push_back(static_cast<Offset>(share.entries.size()));
        }
    }
    return shares;
}

}  // namespace workbench
