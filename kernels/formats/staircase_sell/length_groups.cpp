#include "kernels/formats/staircase_sell/length_groups.hpp"

#include <algorithm>
#include <stdexcept>

namespace workbench {

std::vector<Index> length_groups(std::span<const Offset> ascending_lengths, Index slice_height, double alpha) {
    if (slice_height < 1 || !(alpha >= 0 && alpha <= 1)) throw std::invalid_argument("length groups: slice height or alpha");
    if (!std::is_sorted(ascending_lengths.begin(), ascending_lengths.end())) {
        throw std::invalid_argument("length groups: the lengths descend");
    }
    const auto rows = static_cast<Index>(ascending_lengths.size());
    std::vector<Index> boundaries{0};
    Index begin = 0;  // the first row that is in no group yet
    for (Index end = 0; end < rows;) {
        const auto place = ascending_lengths.begin() + end;
        end = static_cast<Index>(std::upper_bound(place, ascending_lengths.end(), *place) - ascending_lengths.begin());
        if (end == rows) {
            boundaries.push_back(rows);
            break;
        }
        const Index waiting = end - begin;
        const Index kept = waiting - waiting % slice_height;
        if (kept == 0 || static_cast<double>(waiting) / rows < alpha) continue;
        begin += kept;
        boundaries.push_back(begin);
    }
    return boundaries;
}

}  // namespace workbench
