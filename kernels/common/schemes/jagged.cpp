#include "kernels/common/schemes/jagged.hpp"

#include <fmt/format.h>

#include <atomic>

#include "core/matrix/host_array.hpp"
#include "kernels/device/host_loops.hpp"

namespace workbench {
namespace {

/// Appends the diagonals of a group, rows [first, end): diagonal k has a slot for each row up to the last one longer than k.
void append_diagonals(const ShareView& share, Index first, Index end, Offset longest, HostArray<Offset>& diagonal_offsets) {
    Index longer = end;
    for (Offset k = 0; k < longest; ++k) {
        while (share.length(longer - 1) <= k) --longer;  // stops at the first row at the latest
        diagonal_offsets.push_back(diagonal_offsets.back() + longer - first);
    }
}

/// Values and columns of a group. Returns how many entries lie outside its columns.
template <ValueType Value, typename ColumnIndex>
std::int64_t fill(Jagged<Value, ColumnIndex, HostArray>& jagged, const CsrMatrix& matrix, const ShareView& share,
                  const JaggedPlan& plan, std::size_t group, const Offset* diagonals) {
    const Index first_column = plan.column_bounds[group];
    const Index end_column = plan.column_bounds[group + 1];
    const Index first_row = plan.group_rows[group];
    std::atomic<std::int64_t> strays = 0;
    for_each_in_parallel(plan.group_rows[group + 1] - first_row, rows_of_chunk, [&](std::int64_t place) {
        const auto stored = static_cast<Index>(first_row + place);
        std::int64_t strays_of_row = 0;
        for (Offset k = 0; k < share.length(stored); ++k) {
            const Offset nonzero = share.entry(stored, k);
            const Index column = matrix.column_indices[nonzero];
            strays_of_row += column < first_column || column >= end_column ? 1 : 0;
            jagged.column_indices[diagonals[k] + place] = static_cast<ColumnIndex>(column - first_column);
            jagged.values[diagonals[k] + place] = static_cast<Value>(matrix.values[nonzero]);
        }
        if (strays_of_row > 0) strays += strays_of_row;
    });
    return strays;
}

}  // namespace

HostArray<Offset> JaggedPlan::group_diagonals(const ShareView& share) const {
    HostArray<Offset> first{0};
    for (std::size_t group = 0; group + 1 < group_rows.size(); ++group) {
        const Index row = group_rows[group];
        first.push_back(first.back() + (row < group_rows[group + 1] ? share.length(row) : 0));
    }
    return first;
}

template <ValueType Value, typename ColumnIndex>
Jagged<Value, ColumnIndex, HostArray> build_jagged(const CsrMatrix& matrix, const ShareView& share, const JaggedPlan& plan) {
    for (std::size_t group = 0; group + 1 < plan.group_rows.size(); ++group) {
        for (Index row = plan.group_rows[group] + 1; row < plan.group_rows[group + 1]; ++row) {
            if (share.length(row) > share.length(row - 1)) throw std::logic_error("jagged: rows do not descend in length");
        }
    }
    Jagged<Value, ColumnIndex, HostArray> jagged;
    jagged.diagonal_offsets = {0};
    const HostArray<Offset> group_diagonals = plan.group_diagonals(share);
    for (std::size_t group = 0; group + 1 < group_diagonals.size(); ++group) {
        append_diagonals(share, plan.group_rows[group], plan.group_rows[group + 1],
                         group_diagonals[group + 1] - group_diagonals[group], jagged.diagonal_offsets);
    }
    make_room(jagged.column_indices, jagged.diagonal_offsets.back());
    make_room(jagged.values, jagged.diagonal_offsets.back());
    std::int64_t strays = 0;
    for (std::size_t group = 0; group + 1 < group_diagonals.size(); ++group) {
        strays += fill(jagged, matrix, share, plan, group, jagged.diagonal_offsets.data() + group_diagonals[group]);
    }
    if (strays > 0) throw std::logic_error(fmt::format("jagged: {} entries lie outside the columns of their group", strays));
    return jagged;
}

void require_sound_diagonals(std::span<const Offset> diagonal_offsets, const HostArray<Offset>& group_diagonals,
                             const HostArray<Index>& group_rows, std::size_t slots) {
    bool sound = tiles(diagonal_offsets, slots) && tiles(group_diagonals, diagonal_offsets.size() - 1) &&
                 group_diagonals.size() == group_rows.size();
    for (std::size_t group = 0; sound && group + 1 < group_rows.size(); ++group) {
        Offset most = group_rows[group + 1] - group_rows[group];
        for (Offset diagonal = group_diagonals[group]; diagonal < group_diagonals[group + 1]; ++diagonal) {
            const Offset size = diagonal_offsets[diagonal + 1] - diagonal_offsets[diagonal];
            sound = sound && size <= most;
            most = size;
        }
    }
    if (!sound) throw std::logic_error("jagged: the offsets do not tile the arrays");
}

NonzeroOf nonzeros_of_jagged(const Origin& origin) {
    return [&origin](const Slot&, Offset stored, Offset k) {
        const Offset found = origin.nonzero(stored, k);
        if (found < 0) throw std::logic_error("stored row " + std::to_string(stored) + " has more slots than nonzeros");
        return found;
    };
}

template Jagged<float, Index, HostArray> build_jagged(const CsrMatrix&, const ShareView&, const JaggedPlan&);
template Jagged<double, Index, HostArray> build_jagged(const CsrMatrix&, const ShareView&, const JaggedPlan&);
template Jagged<float, std::uint16_t, HostArray> build_jagged(const CsrMatrix&, const ShareView&, const JaggedPlan&);
template Jagged<double, std::uint16_t, HostArray> build_jagged(const CsrMatrix&, const ShareView&, const JaggedPlan&);

}  // namespace workbench
