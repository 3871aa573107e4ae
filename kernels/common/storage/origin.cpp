#include "kernels/common/storage/origin.hpp"

#include <algorithm>
#include <numeric>

#include "core/matrix/host_array.hpp"
#include "kernels/device/host_loops.hpp"

namespace workbench {
namespace {

/// Calls visit(first nonzero, entries before) for the runs of neighbouring nonzeros in a stored row.
template <typename Visit>
void for_each_run(const ShareView& share, Index stored, const Visit& visit) {
    const Offset length = share.length(stored);
    if (share.is_whole()) {
        if (length > 0) visit(share.entry(stored, 0), Offset{0});
        return;
    }
    for (Offset k = 0; k < length; ++k) {
        if (k == 0 || share.entry(stored, k) != share.entry(stored, k - 1) + 1) visit(share.entry(stored, k), k);
    }
}

HostArray<Index> all_rows(const ShareView& share) {
    HostArray<Index> rows(share.row_count());
    std::iota(rows.begin(), rows.end(), 0);
    return rows;
}

}  // namespace

Origin::Origin(const ShareView& share) : Origin(share, all_rows(share)) {}

Origin::Origin(const ShareView& share, const HostArray<Index>& stored_rows) {
    const auto count = static_cast<std::int64_t>(stored_rows.size());
    make_zeros(row_runs_, count + 1);
    make_zeros(lengths_, count);
    for_each_in_parallel(count, rows_of_chunk, [&](std::int64_t row) {
        if (stored_rows[row] < 0) return;
        lengths_[row] = share.length(stored_rows[row]);
        for_each_run(share, stored_rows[row], [&](Offset, Offset) { ++row_runs_[row + 1]; });
    });
    sum_up(row_runs_);
    make_room(runs_, row_runs_.back());
    for_each_in_parallel(count, rows_of_chunk, [&](std::int64_t row) {
        if (stored_rows[row] < 0) return;
        Offset next = row_runs_[row];
        for_each_run(share, stored_rows[row], [&](Offset first, Offset before) { runs_[next++] = {first, before}; });
    });
}

std::vector<Index> Origin::rows_without_nonzeros() const {
    std::vector<Index> rows;
    for (Index row = 0; row < row_count(); ++row) {
        if (lengths_[row] == 0) rows.push_back(row);
    }
    return rows;
}

Offset Origin::nonzero(Offset row, Offset k) const {
    if (row >= row_count() || k >= lengths_[row]) return -1;
    const auto begin = runs_.begin() + row_runs_[row];
    const auto end = runs_.begin() + row_runs_[row + 1];
    const auto after = std::upper_bound(begin, end, k, [](Offset wanted, const OriginRun& run) { return wanted < run.before; });
    const OriginRun& run = *(after - 1);
    return run.first + k - run.before;
}

}  // namespace workbench
