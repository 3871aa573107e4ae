// Rows of ascending length in groups that are stored with one width each; and the stage that cuts
// them, which lives here because no other format has a use for it.
#pragma once

#include <span>
#include <vector>

#include "pipeline/contract/stage.hpp"
#include "pipeline/matrix/types.hpp"

namespace workbench {

/// Where the groups of Staircase SELL begin and end: [groups + 1] boundaries of the rows, from 0 to their number. The rows come
/// in ascending length. All rows of a length, with those passed on to it, make a group, but
///  - where they are less than the share `alpha` of all rows, they are all passed on to the next length;
///  - otherwise those that do not fill a slice are, the last ones: every group but the last is a multiple of slice_height;
///  - the last group is always kept. It alone may end within a slice.
/// Fewer rows than a slice holds are no group, so that an alpha below slice_height / rows is as good as that one, which is the
/// least that the source allows. Linear in the number of rows.
/// Source: Wikberg, "Unstructured Mesh FVM with GPU" (2025), section 4.3.2, Algorithm 3.
/// Throws std::invalid_argument where the lengths descend, slice_height < 1, or alpha is not in [0, 1].
[[nodiscard]] std::vector<Index> length_groups(std::span<const Offset> ascending_lengths, Index slice_height, double alpha);

[[nodiscard]] StageEntry length_groups_stage();

}  // namespace workbench
