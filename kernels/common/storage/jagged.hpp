// Jagged diagonal storage (JDS, JAD), which several layouts share: rows in descending length, first the first entries of all
// rows, then the second entries of the rows that have two, and so on. Neighbouring rows lie side by side as in ELL, but nothing
// is padded. Source: Saad, "Krylov subspace methods on supercomputers" (1989); on a GPU: Li and Saad, "GPU-accelerated
// preconditioned iterative linear solvers" (2012).
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/common/schedule/walk.hpp"
#include "pipeline/matrix/shares.hpp"

namespace workbench {

/// Groups of stored rows (all rows, or the rows present in a column segment), each in jagged diagonals of its own, which are
/// counted on from group to group. The k-th entry of the row at place i of a group whose diagonals begin at d lies in slot
/// diagonal_offsets[d + k] + i, if that is before diagonal_offsets[d + k + 1]: within a group no diagonal is longer than the
/// one before it, so that the first which the row does not reach is its end.
template <typename Value, typename ColumnIndex, template <typename> typename Array>
struct Jagged {
    template <template <typename> typename Other>
    using In = Jagged<Value, ColumnIndex, Other>;

    Array<Offset> diagonal_offsets;     // [diagonals + 1] first slot of each diagonal
    Array<ColumnIndex> column_indices;  // [entries] relative to the first column of the group
    Array<Value> values;                // [entries]

    static constexpr void fields(const auto& visit, auto&... of) {
        visit(ArrayRole::structure, "diagonal_offsets [diagonals + 1]", of.diagonal_offsets...);
        visit(ArrayRole::column, "columns [entries]", of.column_indices...);
        visit(ArrayRole::value, "values [entries]", of.values...);
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

/// Where a row meets a diagonal of its group, if it reaches that far.
struct DiagonalSlot {
    bool reached = false;
    Offset slot = 0;
};

/// `offsets` are the diagonals', or anything else with an operator[].
[[nodiscard]] constexpr DiagonalSlot slot_on_diagonal(const auto& offsets, const JaggedRow& row, Offset diagonal) {
    if (diagonal >= row.end_diagonal) return {};
    const Offset slot = offsets[diagonal] + row.place;
    return {slot < offsets[diagonal + 1], slot};
}

/// The same row as a Run of a schedule: it knows how many slots there are.
struct JaggedRun : JaggedRow {
    Offset count = 0;
    const Offset* offsets = nullptr;

    [[nodiscard]] constexpr Offset slot(Offset k) const { return offsets[first_diagonal + k] + place; }
};

[[nodiscard]] constexpr JaggedRun run_on_diagonals(const auto& jagged, const JaggedRow& row) {
    Offset least = row.first_diagonal;  // the first diagonal not reached lies in [least, most]
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

/// What goes into jagged diagonals: stored rows of a share, group by group.
struct JaggedPlan {
    HostArray<Index> group_rows{0};     // [groups + 1] first stored row of each group
    HostArray<Index> column_bounds{0};  // [groups + 1] as in SlicePlan

    /// The first diagonal of each group. [groups + 1]
    [[nodiscard]] HostArray<Offset> group_diagonals(const ShareView& share) const;
};

/// In two passes over the entries, on all cores. Rows must descend in length within each group, for which require_descending
/// asks the user; std::logic_error where they do not, and where an entry lies outside the columns of its group.
template <ValueType Value, typename ColumnIndex>
[[nodiscard]] Jagged<Value, ColumnIndex, HostArray> build_jagged(const CsrMatrix& matrix, const ShareView& share,
                                                                 const JaggedPlan& plan);

/// Throws std::logic_error where the diagonals do not tile the slots, the groups not the diagonals, or where one grows within
/// its group, so that jagged diagonals which were tampered with are safe to walk.
void require_sound_diagonals(const HostArray<Offset>& diagonal_offsets, const HostArray<Offset>& group_diagonals,
                             const HostArray<Index>& group_rows, std::size_t slots);

/// Every slot in the order of memory, for Layout::for_each_slot: `Schedule` has one thread for each stored row.
template <typename Schedule>
void for_each_jagged_slot(const auto& jagged, const Origin& origin, const std::function<void(const Slot&)>& visit) {
    const auto nonzero = [&](Offset stored, Offset k) {
        const Offset found = origin.nonzero(stored, k);
        if (found < 0) throw std::logic_error("stored row " + std::to_string(stored) + " has more slots than nonzeros");
        return found;
    };
    for_each_stored_slot<Schedule>(jagged, WalkedArrays::of<Schedule>(jagged), nonzero, visit);
}

}  // namespace workbench
