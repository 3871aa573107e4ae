// A share of the nonzeros as a separate matrix, from which a layout of a hybrid is built.
#pragma once

#include <span>
#include <vector>

#include "pipeline/matrix/staged_matrix.hpp"

namespace workbench {

/// The rows that the matrix of a share has.
enum class RowsOfShare {
    present,  // the rows present in the share, in its order of storage
    all,      // all rows, in the order of the whole matrix; some may be empty
};

struct ShareMatrix {
    StagedMatrix staged;        // not split; its orders are the identity
    std::vector<Index> rows;    // [rows] their numbers in the whole matrix; empty: the rows are those of the whole matrix
    HostArray<Offset> entries;  // [nonzeros] positions in CsrMatrix::values of the whole matrix

    /// Copies the values of this share from those of the whole matrix. [nonzeros of the whole]
    void take_values(std::span<const double> whole);
};

/// The columns are those of the whole matrix. With RowsOfShare::all every cut is kept, otherwise only segments.
[[nodiscard]] ShareMatrix matrix_of_share(const StagedMatrix& whole, const ShareId& id, RowsOfShare rows);

/// The nonzeros of a share at their places in the input matrix, before the first stage.
[[nodiscard]] CsrMatrix share_of_input(const StagedMatrix& whole, const ShareId& id);

}  // namespace workbench
