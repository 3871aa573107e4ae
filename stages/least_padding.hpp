// Groups of rows with minimum padding, where each row is padded to the longest row of its group.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/matrix/types.hpp"

namespace workbench {

/// Group g has the rows of lengths longest[g - 1] + 1 .. longest[g].
struct LengthGroups {
    std::vector<Index> longest;  // [groups] ascending
    std::int64_t padding = 0;    // in all rows

    friend bool operator==(const LengthGroups&, const LengthGroups&) = default;
};

/// The optimal groups, at most `most_groups` >= 1, by dynamic programming over the distinct lengths. The optimal last cut is
/// monotonic in the lengths because the cost is a Monge array, so each layer of the table is filled by divide and conquer:
/// O(rows + longest + most_groups d log d) for d distinct lengths.
[[nodiscard]] LengthGroups groups_of_least_padding(std::span<const Index> lengths, Index most_groups);

/// [rows] The rows group by group, in their order within each group: list[new] = old.
[[nodiscard]] std::vector<Index> rows_by_group(std::span<const Index> lengths, const LengthGroups& groups);

}  // namespace workbench
