// Jagged diagonal storage (JDS, JAD), which several layouts share: rows in descending length, first the first entries of all
// rows, then the second entries of the rows that have two, and so on. Neighbouring rows lie side by side as in ELL, but nothing
// is padded. Source: Saad, "Krylov subspace methods on supercomputers" (1989); on a GPU: Li and Saad, "GPU-accelerated
// preconditioned iterative linear solvers" (2012).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/common/nonzero_runs.hpp"
#include "kernels/common/slices.hpp"

namespace workbench {

/// Stored rows that a thread of the host takes at a time.
inline constexpr int jagged_chunk = 256;

/// Groups of stored rows (all rows, or the rows present in a column segment), each in jagged diagonals of its own. Stored rows
/// and diagonals are counted on from group to group. Row i of group g is stored row group_rows[g] + i; its k-th entry lies on
/// diagonal d = group_diagonals[g] + k, in slot diagonal_offsets[d] + i, if that is before diagonal_offsets[d + 1]: within a
/// group no diagonal is longer than the one before it, so that the first which the row does not reach is its end.
template <ValueType Value, typename ColumnIndex>
struct Jagged {
    std::vector<Offset> group_rows{0};        // [groups + 1] first stored row of each group
    std::vector<Offset> group_diagonals{0};   // [groups + 1] first diagonal of each group
    std::vector<Offset> diagonal_offsets{0};  // [diagonals + 1] first slot of each diagonal
    std::vector<ColumnIndex> columns;         // [entries] relative to the first column of the group
    std::vector<Value> values;                // [entries]

    // Where the slots come from. No kernel reads these and they are no part of the footprint: they let every slot be named.
    std::vector<Offset> row_runs{0};  // [stored rows + 1] first run of each stored row
    std::vector<NonzeroRun> runs;     // a row's nonzeros, in the order of its slots

    [[nodiscard]] Index group_count() const { return static_cast<Index>(group_rows.size()) - 1; }
    [[nodiscard]] Offset group_size(Index group) const { return group_rows[group + 1] - group_rows[group]; }
    [[nodiscard]] Offset diagonal_count() const { return static_cast<Offset>(diagonal_offsets.size()) - 1; }
    [[nodiscard]] Offset diagonal_size(Offset diagonal) const {
        return diagonal_offsets[diagonal + 1] - diagonal_offsets[diagonal];
    }
};

/// The columns [begin, end).
struct ColumnRange {
    Index begin = 0;
    Index end = 0;
};

/// What goes into a group: the rows of a share (or of the whole matrix) in the order in which the share stores them, longest
/// first. Rows without entries may stand at the end.
struct JaggedGroup {
    ShareView rows;
    ColumnRange columns;          // the entries' columns lie there and are stored relative to its begin
    std::string share_name = {};  // for the message of a refusal; empty: the whole matrix
};

/// Builds the groups one after another, in two passes over their entries, on all cores. Throws Unsuitable where a row is longer
/// than the one stored before it (with the row, and the row_sort that has to come first), and std::logic_error where an entry
/// lies outside the columns of its group.
template <ValueType Value, typename ColumnIndex>
[[nodiscard]] Jagged<Value, ColumnIndex> build_jagged(const CsrMatrix& matrix, const std::vector<JaggedGroup>& groups);

/// What the owner of jagged diagonals knows about them and they do not.
struct JaggedFrame {
    int value_array = 0;  // numbers in Layout::arrays()
    int column_array = 0;
    std::int64_t first_warp = 0;  // a thread a stored row: threads are dealt to warps of 32 in order, from this one on
    Index group_alignment = 1;    // the threads of a group begin at a multiple of this
    std::function<ColumnRange(Index group)> columns = {};
    std::function<Index(Index group, Offset place)> row = {};  // the matrix's row at a place of a group
};

/// Walks every slot in the order of memory, for Layout::for_each_slot; a diagonal is a step. Throws std::logic_error where
/// offsets or columns point outside the arrays or do not fit the rows, so that jagged diagonals which were tampered with are
/// safe to walk.
template <ValueType Value, typename ColumnIndex>
void for_each_slot(const Jagged<Value, ColumnIndex>& jagged, const JaggedFrame& frame,
                   const std::function<void(const Slot&)>& visit);

}  // namespace workbench
