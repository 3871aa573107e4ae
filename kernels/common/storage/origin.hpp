// The nonzeros that each stored row of a layout holds, for the walk over its slots. No kernel reads this, and it does not count
// in the footprint.
#pragma once

#include <vector>

#include "core/contract/transfer.hpp"
#include "core/matrix/shares.hpp"

namespace workbench {

/// Stored as runs of neighbouring nonzeros: most rows are one run, so that it takes little memory beside the layout.
class Origin {
public:
    Origin() = default;
    /// For the rows of a share in its order, or for the listed stored rows, where -1 is a row without nonzeros.
    explicit Origin(const ShareView& share);
    Origin(const ShareView& share, const HostArray<Index>& stored_rows);

    [[nodiscard]] Index row_count() const { return static_cast<Index>(row_runs_.size()) - 1; }
    /// The number of nonzeros of a row.
    [[nodiscard]] Offset length(Index row) const { return lengths_[row]; }
    /// The k-th nonzero of a row as a position in CsrMatrix::values; -1 past its end and past the last row.
    [[nodiscard]] Offset nonzero(Offset row, Offset k) const;

    [[nodiscard]] std::vector<Index> rows_without_nonzeros() const;

    void transfer(Transfer& all) { all(row_runs_, lengths_, runs_); }

private:
    struct OriginRun {
        Offset first = 0;   // position in CsrMatrix::values
        Offset before = 0;  // nonzeros of the row in earlier runs
    };
    HostArray<Offset> row_runs_{0};  // [rows + 1] first run of each row
    HostArray<Offset> lengths_;      // [rows]
    HostArray<OriginRun> runs_;
};

}  // namespace workbench
