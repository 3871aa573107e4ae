#include "core/matrix/share_matrix.hpp"

#include <optional>

#include "core/matrix/host_array.hpp"
#include "core/matrix/host_threads.hpp"

namespace workbench {
namespace {

/// Returns true if the view has every row of the matrix, in order.
bool has_all_rows_in_order(const ShareView& view, const CsrMatrix& matrix) {
    if (view.row_count() != matrix.rows) return false;
    for (Index i = 0; i < view.row_count(); ++i) {
        if (view.row(i) != i) return false;
    }
    return true;
}

/// [rows] The place of each row of the matrix in the share; -1: the row is not present.
std::vector<Index> places_of_rows(const ShareView& view, Index rows) {
    std::vector<Index> stored_at(rows, -1);
    for (Index i = 0; i < view.row_count(); ++i) stored_at[view.row(i)] = i;
    return stored_at;
}

/// A part of a share, as a share of the share's matrix. row_of: the row of the share's matrix with a row of the whole matrix.
template <typename RowOf>
Share in_matrix_of_share(const Share& part, const ShareMatrix& share, const RowOf& row_of) {
    Share moved{.id = {part.id.kind}, .rows = {}, .row_offsets = part.row_offsets, .entries = {}};
    moved.entries.reserve(part.entries.size());
    const auto first = share.entries.begin();
    for (std::size_t i = 0; i < part.rows.size(); ++i) {
        const Index row = row_of(part.rows[i]);
        moved.rows.push_back(row);
        auto at = first + share.staged.matrix.row_offsets[row];
        for (Offset k = part.row_offsets[i]; k < part.row_offsets[i + 1]; ++k) {
            while (*at != part.entries[k]) ++at;  // both ascend, and the share contains its part
            moved.entries.push_back(at - first);
        }
    }
    return moved;
}

}  // namespace

WholeShare::WholeShare(const StagedMatrix& whole, const ShareId& id)
    : parts_(whole.find_share(id) != nullptr ? std::vector<const Share*>() : parts_of(id, whole.shares)),
      united_(parts_.empty() ? std::nullopt : std::optional(unite(id, parts_, whole.matrix.rows))),
      view_(united_ ? ShareView(*united_) : whole.share(id)) {}

void ShareMatrix::take_values(std::span<const double> whole) {
    HostArray<double>& values = staged.matrix.values;
    if (values.size() != entries.size()) make_room(values, entries.size());
    const auto count = static_cast<Offset>(entries.size());
    Kokkos::parallel_for("take_values", HostRange<Offset>(0, count), [&](Offset i) { values[i] = whole[entries[i]]; });
}

ShareMatrix matrix_of_share(const StagedMatrix& whole, const ShareId& id, RowsOfShare rows) {
    const CsrMatrix& from = whole.matrix;
    const WholeShare whole_share(whole, id);
    const ShareView& view = whole_share.view();
    const bool all = rows == RowsOfShare::all || has_all_rows_in_order(view, from);
    const std::vector<Index> stored_at = all ? places_of_rows(view, from.rows) : std::vector<Index>();
    const auto stored = [&](Index row) { return all ? stored_at[row] : row; };

    ShareMatrix share;
    CsrMatrix& matrix = share.staged.matrix;
    matrix.rows = all ? from.rows : view.row_count();
    matrix.columns = from.columns;
    matrix.row_offsets.resize(static_cast<std::size_t>(matrix.rows) + 1);
    for (Index row = 0; row < matrix.rows; ++row) {
        const Offset length = stored(row) < 0 ? 0 : view.length(stored(row));
        matrix.row_offsets[row + 1] = matrix.row_offsets[row] + length;
    }
    make_room(share.entries, matrix.nonzeros());
    make_room(matrix.column_indices, matrix.nonzeros());
    Kokkos::parallel_for("list_entries", HostRange<>(0, matrix.rows), [&](Index row) {
        for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
            const Offset entry = view.entry(stored(row), i - matrix.row_offsets[row]);
            share.entries[i] = entry;
            matrix.column_indices[i] = from.column_indices[entry];
        }
    });
    share.take_values(from.values);
    if (!all) {
        for (Index i = 0; i < view.row_count(); ++i) share.rows.push_back(view.row(i));
    }
    share.staged.row_order = Permutation::identity(matrix.rows);
    share.staged.column_order = Permutation::identity(matrix.columns);
    share.staged.node_size = all ? whole.node_size : 1;
    for (const Cuts& cuts : whole.cuts) {
        if (all || !cuts_rows(cuts.kind)) share.staged.cuts.push_back(cuts);
    }
    if (whole_share.parts().empty()) return share;
    const std::vector<Index> present = places_of_rows(view, from.rows);
    for (const Share* part : whole_share.parts()) {
        share.staged.shares.push_back(in_matrix_of_share(*part, share, [&](Index row) { return all ? row : present[row]; }));
    }
    return share;
}

CsrMatrix share_of_input(const StagedMatrix& whole, const ShareId& id) {
    const auto undone = [](const Permutation& order) {
        return Permutation::from_old_of_new({order.new_of_old().begin(), order.new_of_old().end()});
    };
    return permute(matrix_of_share(whole, id, RowsOfShare::all).staged.matrix, undone(whole.row_order),
                   undone(whole.column_order));
}

}  // namespace workbench
