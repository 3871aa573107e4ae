// Groups of rows of ascending length that are stored with one width each, and the stage that cuts them, which is in this folder
// because no other format uses it.
#pragma once

#include <span>
#include <vector>

#include "core/contract/stage.hpp"
#include "core/matrix/types.hpp"

namespace workbench {

/// The boundaries of the groups of Staircase SELL, from 0 to the number of rows. [groups + 1] All rows of a length, with those
/// passed on to it, make a group, but
///  - if they are less than the share `alpha` of all rows, all of them are passed on to the next length;
///  - otherwise the last ones, which do not fill a slice, are passed on: every group but the last is a multiple of
///  slice_height;
///  - the last group is always kept. It alone may end within a slice.
/// Fewer rows than a slice are no group, so that any alpha below slice_height / rows, the least in the source, gives the same
/// groups. Linear in the number of rows.
/// Source: Wikberg, "Unstructured Mesh FVM with GPU" (2025), section 4.3.2, Algorithm 3.
/// Throws std::invalid_argument if the lengths descend, slice_height < 1, or alpha is not in [0, 1].
[[nodiscard]] std::vector<Index> length_groups(std::span<const Offset> ascending_lengths, Index slice_height, double alpha);

[[nodiscard]] StageEntry length_groups_stage();

}  // namespace workbench
