#include "kernels/formats/rows/long_rows.hpp"

#include <algorithm>

namespace workbench {

SellLongRows find_long_rows(const HostArray<Index>& lengths, Index longest) {
    HostArray<Index> rows;
    for (Index row = 0; row < static_cast<Index>(lengths.size()); ++row) {
        if (lengths[row] > longest) rows.push_back(row);
    }
    std::stable_sort(rows.begin(), rows.end(), [&](Index a, Index b) { return lengths[a] > lengths[b]; });
    SellLongRows found;
    for (const Index row : rows) {
        const bool several = lengths[row] > tuned::sell_part_length;
        SellSums sums{.row = row, .first = found.sum_count()};
        for (Index first = 0; first < lengths[row]; first += std::min(tuned::sell_part_length, lengths[row] - first)) {
            found.parts.push_back({.row = row,
                                   .first = first,
                                   .entries = std::min(tuned::sell_part_length, lengths[row] - first),
                                   .sum = several ? sums.first + sums.count++ : -1});
        }
        if (several) found.sums.push_back(sums);
    }
    return found;
}

}  // namespace workbench
