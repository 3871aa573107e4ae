// Some rows of a matrix, cut out of the whole: the oracle for reading, generating and receiving rows.
#pragma once

#include "core/matrix/csr_matrix.hpp"
#include "core/matrix/row_range.hpp"

namespace workbench {

inline CsrMatrix cut_out(const CsrMatrix& whole, RowRange range) {
    CsrMatrix rows;
    rows.rows = range.count();
    rows.columns = whole.columns;
    for (Index row = range.first; row < range.end; ++row) {
        for (Offset i = whole.row_offsets[row]; i < whole.row_offsets[row + 1]; ++i) {
            rows.column_indices.push_back(whole.column_indices[i]);
            rows.values.push_back(whole.values[i]);
        }
        rows.row_offsets.push_back(static_cast<Offset>(rows.values.size()));
    }
    return rows;
}

}  // namespace workbench
