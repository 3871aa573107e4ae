// A share of the nonzeros as a separate matrix, from which a layout of a hybrid is built.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/matrix/staged_matrix.hpp"

namespace workbench {

/// The rows that the matrix of a share has.
enum class RowsOfShare {
    present,  // the rows present in the share, in its order of storage
    all,      // all rows, in the order of the whole matrix; some may be empty
};

/// A share, or the union of the shares that it was split into.
class WholeShare {
public:
    /// Throws std::out_of_range where neither exists. The matrix must outlive this.
    WholeShare(const StagedMatrix& whole, const ShareId& id);
    WholeShare(const WholeShare&) = delete;
    WholeShare& operator=(const WholeShare&) = delete;
    ~WholeShare() = default;

    [[nodiscard]] const ShareView& view() const { return view_; }
    /// Empty if the share was not split.
    [[nodiscard]] const std::vector<const Share*>& parts() const { return parts_; }

private:
    std::vector<const Share*> parts_;
    std::optional<Share> united_;
    ShareView view_;
};

struct ShareMatrix {
    StagedMatrix staged;        // split like the share; its orders are the identity
    std::vector<Index> rows;    // [rows] their numbers in the whole matrix; empty: the rows are those of the whole matrix
    HostArray<Offset> entries;  // [nonzeros] positions in CsrMatrix::values of the whole matrix

    /// Copies the values of this share from those of the whole matrix. [nonzeros of the whole]
    void take_values(std::span<const double> whole);
};

/// The columns are those of the whole matrix. If the share was split again, the matrix has these shares, named as if the share
/// were the whole matrix. With RowsOfShare::all every cut is kept, otherwise only segments.
[[nodiscard]] ShareMatrix matrix_of_share(const StagedMatrix& whole, const ShareId& id, RowsOfShare rows);

/// The nonzeros of a share at their places in the input matrix, before the first stage.
[[nodiscard]] CsrMatrix share_of_input(const StagedMatrix& whole, const ShareId& id);

}  // namespace workbench
