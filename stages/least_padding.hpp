// Rows in groups, each padded to its longest row, so that the padding is least.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pipeline/matrix/types.hpp"

namespace workbench {

/// Groups of rows by length: group g has the rows that are longer than longest[g - 1] and not longer than longest[g].
struct LengthGroups {
    std::vector<Index> longest;  // [groups] ascending, the last is that of all rows
    std::int64_t padding = 0;    // sum over the rows of what their group's longest row is longer

    friend bool operator==(const LengthGroups&, const LengthGroups&) = default;
};

/// At most `most_groups` >= 1 groups of least padding, exactly: dynamic programming over the distinct lengths. For one group
/// more the best last cut never moves back as the lengths grow (the cost is a Monge array), so that a layer of the table is
/// filled by divide and conquer: O(rows + longest + most_groups d log d) for d distinct lengths.
[[nodiscard]] LengthGroups groups_of_least_padding(std::span<const Index> lengths, Index most_groups);

/// The rows group by group, in their order within each: as Permutation::from_old_of_new takes it. The groups are those of these
/// lengths.
[[nodiscard]] std::vector<Index> rows_by_group(std::span<const Index> lengths, const LengthGroups& groups);

}  // namespace workbench
