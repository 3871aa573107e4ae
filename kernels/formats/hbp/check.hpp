// The entries of HBP, and checks of its arrays, for Layout::for_each_slot and the schedules.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "kernels/common/schedule/walk.hpp"
#include "kernels/formats/hbp/layout.hpp"

namespace workbench {

[[noreturn]] inline void fail_hbp(std::string_view what) { throw std::logic_error(fmt::format("hbp: {}", what)); }

/// Calls visit(number of the row in its group, result) for the partial results of a group in order. Does not check that the
/// results exist.
void for_each_merged_result(const auto& hbp, std::int64_t group, const auto& visit) {
    const Index first = hbp.merge_rows[group];
    const Index end = hbp.merge_rows[group + 1];
    Index result = hbp.merge_results[group];
    bool more = true;
    for (Index k = 0; more; ++k) {
        more = false;
        for (Index i = first; i < end; ++i) {
            if (k >= hbp.merged_counts[i]) continue;
            visit(i - first, result++);
            more = true;
        }
    }
}

/// Throws std::logic_error if offsets do not tile their array.
void require_hbp_tiling(const auto& offsets, std::size_t end, std::string_view name) {
    if (!tiles(offsets, end)) fail_hbp(fmt::format("{} does not tile its array", name));
}

/// Throws std::logic_error if an array contradicts the others. Does not check the entries.
void require_sound_hbp(const auto& hbp) {
    require_hbp_tiling(hbp.chunk_batches, hbp.zero_row.size(), "chunk_batches");
    require_hbp_tiling(hbp.begin_ptr, hbp.data.size(), "begin_ptr");
    require_hbp_tiling(hbp.batch_rows, hbp.output_order.size(), "batch_rows");
    require_hbp_tiling(hbp.merge_rows, hbp.merged_rows.size(), "merge_rows");
    if (!std::is_sorted(hbp.merge_results.begin(), hbp.merge_results.end()) || hbp.merge_results.empty() ||
        hbp.merge_results.front() != 0) {
        fail_hbp("merge_results does not ascend from 0");
    }
    if (hbp.chunk_batches.size() != hbp.chunk_columns.size() + 1 || hbp.begin_ptr.size() != hbp.zero_row.size() + 1 ||
        hbp.batch_rows.size() != hbp.zero_row.size() + 1 || hbp.merge_results.size() != hbp.merge_rows.size() ||
        hbp.merged_counts.size() != hbp.merged_rows.size() || hbp.column_indices.size() != hbp.data.size() ||
        hbp.add_sign.size() != hbp.data.size()) {
        fail_hbp("arrays that are parallel differ in length");
    }
    for (Index chunk = 0; chunk < hbp.chunk_count(); ++chunk) {
        const Index batches = hbp.chunk_batches[chunk + 1] - hbp.chunk_batches[chunk];
        if (batches < 1 || batches > hbp_batches_of_chunk) {
            fail_hbp(fmt::format("chunk {} has too many batches, or none", chunk));
        }
    }
    for (std::size_t batch = 0; batch < hbp.zero_row.size(); ++batch) {
        const Index rows = hbp.batch_rows[batch + 1] - hbp.batch_rows[batch];
        const bool marked = rows >= hbp_lanes || hbp.zero_row[batch] >> rows == ~std::uint32_t{0} >> rows;
        if (rows < 1 || rows > hbp_lanes || !marked) {
            fail_hbp(fmt::format("batch {} has too many rows, too few, or lanes without a row", batch));
        }
    }
}

/// The row of each partial result. Throws std::logic_error if a group has too many rows, too few, or other results.
[[nodiscard]] HostArray<Index> rows_of_hbp_results(const auto& hbp) {
    HostArray<Index> rows;
    for (Index group = 0; group < hbp.group_count(); ++group) {
        const Index first = hbp.merge_rows[group];
        const Index count = hbp.merge_rows[group + 1] - first;
        if (count < 1 || count > hbp_lanes) fail_hbp(fmt::format("group {} has too many rows, or too few", group));
        Offset results = 0;
        for (Index i = first; i < first + count; ++i) {
            const Index of_row = hbp.merged_counts[i];
            if (of_row < 2 || (count > 1 && of_row > hbp_lanes)) {
                fail_hbp(fmt::format("merged row {} has too many results, or too few", i));
            }
            results += of_row;
        }
        if (hbp.merge_results[group] + results != hbp.merge_results[group + 1]) {
            fail_hbp(fmt::format("the rows of group {} have other results than the group", group));
        }
        for_each_merged_result(hbp, group, [&](Index i, Index) { rows.push_back(hbp.merged_rows[first + i]); });
    }
    return rows;
}

/// The row of each stored row. Throws std::logic_error unless each row of y and each partial result is written once.
[[nodiscard]] HostArray<Index> rows_of_hbp_stored(const auto& hbp) {
    const HostArray<Index> row_of_result = rows_of_hbp_results(hbp);
    std::vector<bool> written(hbp.row_count, false);
    std::vector<bool> stored_result(row_of_result.size(), false);
    const auto take = [](std::vector<bool>& taken, Offset i, std::string_view what) {
        if (i < 0 || i >= static_cast<Offset>(taken.size()) || taken[i])
            fail_hbp(fmt::format("{} {} is listed twice, or does not exist", what, i));
        taken[i] = true;
    };
    for (const Index row : hbp.absent_rows) take(written, row, "absent_rows: row");
    for (const Index row : hbp.merged_rows) take(written, row, "merged_rows: row");
    HostArray<Index> rows;
    for (std::size_t batch = 0; batch < hbp.zero_row.size(); ++batch) {
        for (Index stored = hbp.batch_rows[batch]; stored < hbp.batch_rows[batch + 1]; ++stored) {
            const Index output = hbp.output_order[stored];
            const bool goes_on = stored > hbp.batch_rows[batch] && hbp.output_order[stored - 1] == output;
            if (!goes_on && output >= 0) take(written, output, "output_order: row");
            if (!goes_on && output < 0) take(stored_result, ~output, "output_order: partial result");
            rows.push_back(output >= 0 ? output : row_of_result[~output]);
        }
    }
    if (std::find(written.begin(), written.end(), false) != written.end()) fail_hbp("a row of y is not written");
    if (std::find(stored_result.begin(), stored_result.end(), false) != stored_result.end()) {
        fail_hbp("a partial result is read, but not written");
    }
    return rows;
}

struct HbpEntryOwner {
    Index stored = -1;  // the stored row
    Offset k = 0;       // number of the entry in it
};

/// The owners of a chunk's entries, which lanes find by add_sign. Throws std::logic_error unless each entry belongs to one
/// lane.
[[nodiscard]] std::vector<HbpEntryOwner> owners_of_hbp_chunk(const auto& hbp, Index chunk) {
    const Offset first = hbp.begin_ptr[hbp.chunk_batches[chunk]];
    std::vector<HbpEntryOwner> owners(hbp.begin_ptr[hbp.chunk_batches[chunk + 1]] - first);
    for (Index batch = hbp.chunk_batches[chunk]; batch < hbp.chunk_batches[chunk + 1]; ++batch) {
        for (int lane = 0; lane < hbp_lanes; ++lane) {
            if (!hbp_has_entries(hbp.zero_row[batch], lane)) continue;
            Offset entry = hbp.begin_ptr[batch] + hbp_lanes_before(hbp.zero_row[batch], lane);
            for (Offset k = 0;; ++k) {
                if (entry >= hbp.begin_ptr[batch + 1])
                    fail_hbp(fmt::format("lane {} of batch {} leaves its entries", lane, batch));
                HbpEntryOwner& owner = owners[entry - first];
                if (owner.stored >= 0) fail_hbp(fmt::format("entry {} belongs to two lanes", entry));
                owner = {hbp.batch_rows[batch] + lane, k};
                if (hbp.add_sign[entry] == 0) break;
                entry += hbp.add_sign[entry];
            }
        }
    }
    const auto stray = std::find_if(owners.begin(), owners.end(), [](const HbpEntryOwner& owner) { return owner.stored < 0; });
    if (stray != owners.end()) fail_hbp(fmt::format("entry {} belongs to no lane", first + (stray - owners.begin())));
    return owners;
}

[[nodiscard]] Index column_of_hbp_entry(const auto& hbp, Index chunk, Offset entry) {
    const Offset column = Offset{hbp.chunk_columns[chunk]} + hbp.column_indices[entry];
    if (column < 0 || column >= hbp.column_count) fail_hbp(fmt::format("entry {} reads a column that does not exist", entry));
    return static_cast<Index>(column);
}

/// Calls visit(slot, chunk) for each entry. nonzero(stored row, k) is the position of its k-th entry in CsrMatrix::values.
void for_each_hbp_slot(const auto& hbp, const std::function<Offset(Index stored, Offset k)>& nonzero,
                       const std::function<void(const Slot&, Index chunk)>& visit) {
    require_sound_hbp(hbp);
    const HostArray<Index> rows = rows_of_hbp_stored(hbp);
    const int data = array_number(hbp, hbp.data);
    const int columns = array_number(hbp, hbp.column_indices);
    for (Index chunk = 0; chunk < hbp.chunk_count(); ++chunk) {
        Offset entry = hbp.begin_ptr[hbp.chunk_batches[chunk]];
        for (const auto& [stored, k] : owners_of_hbp_chunk(hbp, chunk)) {
            visit(Slot{.array = data,
                       .column_array = columns,
                       .index = entry,
                       .column_index = entry,
                       .nonzero = nonzero(stored, k),
                       .column = column_of_hbp_entry(hbp, chunk, entry),
                       .row = rows[stored]},
                  chunk);
            ++entry;
        }
    }
}

/// The reads of the CUDA kernels: warp c reads chunk c, 32 neighbours a step. The row of a read is that of the entry, not of
/// the lane that adds its product.
void for_each_hbp_read(const auto& hbp, const std::function<void(const Read&)>& visit) {
    const auto no_nonzero = [](Index, Offset) { return Offset{-1}; };
    for_each_hbp_slot(hbp, no_nonzero, [&](const Slot& slot, Index chunk) {
        const Offset begin = hbp_stream_begin(hbp.begin_ptr[hbp.chunk_batches[chunk]]);
        visit(read_of(slot, Offset{chunk} * hbp_lanes + slot.index % hbp_lanes, (slot.index - begin) / hbp_lanes));
    });
}

}  // namespace workbench
