// Where the slots of a layout come from: which nonzeros each stored row holds. No kernel reads it and it is no part of a
// footprint: it tells which nonzero a slot holds.
#pragma once

#include <vector>

#include "pipeline/contract/transfer.hpp"
#include "pipeline/matrix/shares.hpp"

namespace workbench {

/// Kept as runs of neighbouring nonzeros: most rows are one run, so that it takes little memory beside the arrays of the
/// layout.
class Origin {
public:
    Origin() = default;
    /// Of the rows of a share in its order; or of the stored rows listed, -1 for a row without nonzeros.
    explicit Origin(const ShareView& share);
    Origin(const ShareView& share, const HostArray<Index>& stored_rows);

    /// Rows known.
    [[nodiscard]] Index row_count() const { return static_cast<Index>(row_runs_.size()) - 1; }
    /// Nonzeros of a row.
    [[nodiscard]] Offset length(Index row) const { return lengths_[row]; }
    /// The k-th nonzero of a row as a position in CsrMatrix::values; -1 past its end, and in rows not known.
    [[nodiscard]] Offset nonzero(Offset row, Offset k) const;

    void transfer(Transfer& all) { all(row_runs_, lengths_, runs_); }

private:
    struct Run {
        Offset first = 0;   // position in CsrMatrix::values
        Offset before = 0;  // nonzeros of the row that come before
    };
    HostArray<Offset> row_runs_{0};  // [rows + 1] first run of each row
    HostArray<Offset> lengths_;      // [rows]
    HostArray<Run> runs_;
};

}  // namespace workbench
