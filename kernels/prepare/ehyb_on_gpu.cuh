// EHYB of a matrix that is on the GPU: the steps of kernels/prepare/plan_on_gpu.cu that differ from those of other layouts.
#pragma once

#include <vector>

#include "kernels/prepare/cuthill_mckee.cuh"
#include "kernels/prepare/planned_on_gpu.cuh"

namespace workbench {

/// The old row in each place: an order is cut into parts, within which rows are sorted by the number of their entries inside
/// the part, as by row_sort; rows of the same number keep their order. longest: row of the pattern.
[[nodiscard]] WorkspaceArray<std::uint32_t> sorted_by_entries_inside(Workspace& workspace, const PatternOnGpu& pattern,
                                                                     const Index* old_of_new,
                                                                     const std::vector<Index>& partition, bool descending,
                                                                     std::uint32_t longest);

/// Makes the arrays of EHYB for the parts of the result's facts, with columns of 16 bits inside them, and the kernel `fused`.
/// The result then fills in the values. descending: the order of the rows outside, by their entries outside. Throws Unsuitable
/// if the parts do not fit into shared memory. Slices must have fewer than 2^31 slots.
template <ValueType Value>
void store_ehyb(Workspace& workspace, Device& device, const ReorderedOnGpu& matrix, bool descending,
                PlannedOnGpu<Value>& result);

}  // namespace workbench
