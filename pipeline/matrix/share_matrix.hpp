// A share of the nonzeros as a matrix of its own: what a layout of a hybrid is built from.
#pragma once

#include <span>
#include <vector>

#include "pipeline/matrix/staged_matrix.hpp"

namespace workbench {

/// Which rows the matrix of a share has.
enum class RowsOfShare {
    present,  // those present in the share, in its order of storage
    all,      // all, in the order of the whole matrix: empty where the share has none
};

struct ShareMatrix {
    StagedMatrix staged;        // not split; its orders are the identity
    std::vector<Index> rows;    // [rows] which row of the whole matrix each is; empty: row i is row i, all are there
    HostArray<Offset> entries;  // [nonzeros] positions in CsrMatrix::values of the whole

    /// Takes the values from those of the whole. [nonzeros of the whole]
    void take_values(std::span<const double> whole);
};

/// The columns are those of the whole matrix. With all rows the cuts of the whole are kept, with rows of its own only segments.
[[nodiscard]] ShareMatrix matrix_of_share(const StagedMatrix& whole, const ShareId& id, RowsOfShare rows);

/// The nonzeros of a share at their places in the input, from before the first stage.
[[nodiscard]] CsrMatrix share_of_input(const StagedMatrix& whole, const ShareId& id);

}  // namespace workbench
