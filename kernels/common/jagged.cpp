#include "kernels/common/jagged.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <stdexcept>

#include "kernels/common/descending_rows.hpp"
#include "kernels/common/host_loops.hpp"
#include "kernels/common/offsets.hpp"

namespace workbench {
namespace {

void require_descending(const JaggedGroup& group) {
    const std::string& share = group.share_name;
    require_descending(group.rows,
                       {.wish = "jagged diagonals need rows in descending length",
                        .stage = share.empty() ? "row_sort with apply = \"rows\"" : "row_sort with share = \"" + share + "\"",
                        .share_name = share});
}

/// Appends the diagonals of a group: diagonal k has as many slots as rows are longer than k.
void append_diagonals(const ShareView& rows, std::vector<Offset>& diagonal_offsets) {
    Index longer = rows.row_count();
    const Offset longest = longer == 0 ? 0 : rows.length(0);
    for (Offset k = 0; k < longest; ++k) {
        while (rows.length(longer - 1) <= k) --longer;  // ends at the longest row at the latest
        diagonal_offsets.push_back(diagonal_offsets.back() + longer);
    }
}

/// The first pass: the runs of every row of a group, appended as offsets.
void append_row_runs(const ShareView& rows, std::vector<Offset>& row_runs) {
    const std::size_t first = row_runs.size();
    row_runs.resize(first + rows.row_count(), 0);
    for_each_in_parallel(rows.row_count(), jagged_chunk, [&](std::int64_t i) {
        for_each_run(rows, static_cast<Index>(i), [&](const NonzeroRun&) { ++row_runs[first + i]; });
    });
    std::partial_sum(row_runs.begin() + static_cast<std::ptrdiff_t>(first) - 1, row_runs.end(),
                     row_runs.begin() + static_cast<std::ptrdiff_t>(first) - 1);
}

/// The second pass: values, columns and runs of one group. Returns how many entries lie outside its columns.
template <ValueType Value, typename ColumnIndex>
std::int64_t fill(Jagged<Value, ColumnIndex>& jagged, const CsrMatrix& matrix, const JaggedGroup& group, Index number) {
    std::atomic<std::int64_t> strays = 0;
    const Offset first_row = jagged.group_rows[number];
    const Offset* diagonals = jagged.diagonal_offsets.data() + jagged.group_diagonals[number];
    for_each_in_parallel(group.rows.row_count(), jagged_chunk, [&](std::int64_t i) {
        Offset run_number = jagged.row_runs[first_row + i];
        Offset k = 0;
        std::int64_t strays_of_row = 0;
        for_each_run(group.rows, static_cast<Index>(i), [&](const NonzeroRun& run) {
            jagged.runs[run_number++] = run;
            for (Offset nonzero = run.first; nonzero < run.first + run.count; ++nonzero, ++k) {
                const Index column = matrix.column_indices[nonzero];
                strays_of_row += column < group.columns.begin || column >= group.columns.end ? 1 : 0;
                jagged.columns[diagonals[k] + i] = static_cast<ColumnIndex>(column - group.columns.begin);
                jagged.values[diagonals[k] + i] = static_cast<Value>(matrix.values[nonzero]);
            }
        });
        if (strays_of_row > 0) strays += strays_of_row;
    });
    return strays;
}

/// Offsets that tile the arrays, diagonals that do not grow within their group, and
/// as many rows as there are.
template <ValueType Value, typename ColumnIndex>
void require_sound_offsets(const Jagged<Value, ColumnIndex>& jagged) {
    bool sound = tiles(jagged.group_rows, jagged.row_runs.size() - 1) &&
                 tiles(jagged.group_diagonals, jagged.diagonal_offsets.size() - 1) &&
                 tiles(jagged.diagonal_offsets, jagged.values.size()) && jagged.columns.size() == jagged.values.size() &&
                 jagged.group_rows.size() == jagged.group_diagonals.size();
    for (Index group = 0; sound && group < jagged.group_count(); ++group) {
        Offset most = jagged.group_size(group);
        for (Offset diagonal = jagged.group_diagonals[group]; diagonal < jagged.group_diagonals[group + 1]; ++diagonal) {
            sound = sound && jagged.diagonal_size(diagonal) <= most;
            most = jagged.diagonal_size(diagonal);
        }
    }
    if (!sound) throw std::logic_error("jagged: the offsets do not tile the arrays");
}

/// Walks the slots of one group, whose threads begin at `first_thread`.
template <ValueType Value, typename ColumnIndex>
void walk_group(const Jagged<Value, ColumnIndex>& jagged, const JaggedFrame& frame, Index group, Offset first_thread,
                const std::function<void(const Slot&)>& visit) {
    const ColumnRange range = frame.columns(group);
    std::vector<RunCursor> nonzeros;
    for (Offset row = jagged.group_rows[group]; row < jagged.group_rows[group + 1]; ++row) {
        nonzeros.emplace_back(jagged.runs.data() + jagged.row_runs[row], jagged.runs.data() + jagged.row_runs[row + 1]);
    }
    const Offset first_diagonal = jagged.group_diagonals[group];
    Slot slot{.array = frame.value_array, .column_array = frame.column_array};
    for (Offset diagonal = first_diagonal; diagonal < jagged.group_diagonals[group + 1]; ++diagonal) {
        slot.step = diagonal - first_diagonal;
        slot.index = jagged.diagonal_offsets[diagonal];
        for (Offset place = 0; place < jagged.diagonal_size(diagonal); ++place, ++slot.index) {
            const auto local_column = static_cast<Offset>(jagged.columns[slot.index]);
            slot.nonzero = nonzeros[place].next();
            if (slot.nonzero < 0 || local_column < 0 || local_column >= range.end - range.begin) {
                throw std::logic_error(
                    fmt::format("jagged: slot {} lies behind its row's end, or reads a column outside of "
                                "its group",
                                slot.index));
            }
            slot.column = range.begin + static_cast<Index>(local_column);
            slot.column_index = slot.index;
            slot.row = frame.row(group, place);
            slot.warp = frame.first_warp + (first_thread + place) / 32;
            slot.lane = static_cast<int>((first_thread + place) % 32);
            visit(slot);
        }
    }
}

}  // namespace

template <ValueType Value, typename ColumnIndex>
Jagged<Value, ColumnIndex> build_jagged(const CsrMatrix& matrix, const std::vector<JaggedGroup>& groups) {
    Jagged<Value, ColumnIndex> jagged;
    for (const JaggedGroup& group : groups) {
        require_descending(group);
        append_diagonals(group.rows, jagged.diagonal_offsets);
        append_row_runs(group.rows, jagged.row_runs);
        jagged.group_rows.push_back(jagged.group_rows.back() + group.rows.row_count());
        jagged.group_diagonals.push_back(jagged.diagonal_count());
    }
    jagged.columns.resize(jagged.diagonal_offsets.back());
    jagged.values.resize(jagged.diagonal_offsets.back());
    jagged.runs.resize(jagged.row_runs.back());
    std::int64_t strays = 0;
    for (std::size_t i = 0; i < groups.size(); ++i) strays += fill(jagged, matrix, groups[i], static_cast<Index>(i));
    if (strays > 0) throw std::logic_error(fmt::format("jagged: {} entries lie outside the columns of their group", strays));
    return jagged;
}

template <ValueType Value, typename ColumnIndex>
void for_each_slot(const Jagged<Value, ColumnIndex>& jagged, const JaggedFrame& frame,
                   const std::function<void(const Slot&)>& visit) {
    require_sound_offsets(jagged);
    Offset thread = 0;
    for (Index group = 0; group < jagged.group_count(); ++group) {
        walk_group(jagged, frame, group, thread, visit);
        thread +=
            (jagged.group_size(group) + Offset{frame.group_alignment} - 1) / frame.group_alignment * frame.group_alignment;
    }
}

// The value types and column types that layouts use.
template Jagged<float, Index> build_jagged(const CsrMatrix&, const std::vector<JaggedGroup>&);
template Jagged<double, Index> build_jagged(const CsrMatrix&, const std::vector<JaggedGroup>&);
template Jagged<float, std::uint16_t> build_jagged(const CsrMatrix&, const std::vector<JaggedGroup>&);
template Jagged<double, std::uint16_t> build_jagged(const CsrMatrix&, const std::vector<JaggedGroup>&);

using VisitSlot = std::function<void(const Slot&)>;
template void for_each_slot(const Jagged<float, Index>&, const JaggedFrame&, const VisitSlot&);
template void for_each_slot(const Jagged<double, Index>&, const JaggedFrame&, const VisitSlot&);
template void for_each_slot(const Jagged<float, std::uint16_t>&, const JaggedFrame&, const VisitSlot&);
template void for_each_slot(const Jagged<double, std::uint16_t>&, const JaggedFrame&, const VisitSlot&);

}  // namespace workbench
