// Jagged diagonal storage (JDS, JAD), which several layouts share: rows in descending length, the first entries of all rows,
// then the second entries of the rows that have two, and so on. Neighbouring rows are stored side by side as in ELL, but
// without padding. Source: Saad, "Krylov subspace methods on supercomputers" (1989); on a GPU: Li and Saad, "GPU-accelerated
// preconditioned iterative linear solvers" (2012).
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "core/matrix/shares.hpp"
#include "kernels/common/schedule/walk.hpp"

namespace workbench {

/// Groups of stored rows (all rows, or the rows present in a column segment), each in its own jagged diagonals, numbered on
/// from group to group. The k-th entry of the row at place i of a group whose diagonals begin at d is slot diagonal_offsets[d +
/// k] + i if that is below diagonal_offsets[d + k + 1]. Within a group no diagonal is longer than the one before it, so that a
/// row ends at the first diagonal that it does not reach.
template <typename Value, typename ColumnIndex, template <typename> typename Array>
struct Jagged {
    Array<Offset> diagonal_offsets;     // first slot of each diagonal
    Array<ColumnIndex> column_indices;  // relative to the first column of the group
    Array<Value> values;

    static constexpr auto fields() {
        return field_list(structure_array<&Jagged::diagonal_offsets>("diagonals + 1"),
                          column_array<&Jagged::column_indices>("entries"), value_array<&Jagged::values>("entries"));
    }

    [[nodiscard]] constexpr Offset diagonal_count() const { return static_cast<Offset>(diagonal_offsets.size()) - 1; }
};

/// A row in jagged diagonals.
struct JaggedRow {
    Index row = -1;    // as in Run
    Offset place = 0;  // in its group, whose diagonals are [first_diagonal, end_diagonal)
    Offset first_diagonal = 0;
    Offset end_diagonal = 0;
    Index first_column = 0;  // of its group
};

/// The slot of a row on a diagonal of its group, if the row reaches that far.
struct DiagonalSlot {
    bool reached = false;
    Offset slot = 0;
};

/// offsets: anything whose operator[] returns the diagonals' offsets.
[[nodiscard]] constexpr DiagonalSlot slot_on_diagonal(const auto& offsets, const JaggedRow& row, Offset diagonal) {
    if (diagonal >= row.end_diagonal) return {};
    const Offset slot = offsets[diagonal] + row.place;
    return {slot < offsets[diagonal + 1], slot};
}

/// The row as a Run of a schedule, with the number of its slots.
struct JaggedRun : JaggedRow {
    Offset count = 0;
    const Offset* offsets = nullptr;

    [[nodiscard]] constexpr Offset slot(Offset k) const { return offsets[first_diagonal + k] + place; }
};
[[nodiscard]] inline WalkedRun walked_run(const JaggedRun& run) {
    return {run.row, run.count, run.place, 0, run.offsets + run.first_diagonal};
}

[[nodiscard]] constexpr JaggedRun run_on_diagonals(const auto& jagged, const JaggedRow& row) {
    Offset least = row.first_diagonal;  // the first diagonal that the row does not reach is in [least, most]
    Offset most = row.end_diagonal;
    while (least < most) {
        const Offset middle = least + (most - least) / 2;
        if (slot_on_diagonal(jagged.diagonal_offsets, row, middle).reached) {
            least = middle + 1;
        } else {
            most = middle;
        }
    }
    return {row, least - row.first_diagonal, jagged.diagonal_offsets.data()};
}

/// The stored rows of a share that go into jagged diagonals, group by group.
struct JaggedPlan {
    HostArray<Index> group_rows{0};     // [groups + 1] first stored row of each group
    HostArray<Index> column_bounds{0};  // [groups + 1] as in SlicePlan

    /// The first diagonal of each group. [groups + 1]
    [[nodiscard]] HostArray<Offset> group_diagonals(const ShareView& share) const;
};

/// Builds jagged diagonals in two passes over the entries, on all cores. Throws std::logic_error if rows do not descend in
/// length within each group (require_descending reports that to the user), or if an entry is outside the columns of its group.
template <ValueType Value, typename ColumnIndex>
[[nodiscard]] Jagged<Value, ColumnIndex, HostArray> build_jagged(const CsrMatrix& matrix, const ShareView& share,
                                                                 const JaggedPlan& plan);

/// Throws std::logic_error unless the diagonals tile the slots, the groups tile the diagonals, and no diagonal is longer than
/// the one before it in its group, so that corrupted arrays are safe to walk.
void require_sound_diagonals(std::span<const Offset> diagonal_offsets, const HostArray<Offset>& group_diagonals,
                             const HostArray<Index>& group_rows, std::size_t slots);

/// The nonzeros of jagged diagonals, which have no padding.
[[nodiscard]] NonzeroOf nonzeros_of_jagged(const Origin& origin);

}  // namespace workbench
