// CUB's sorts and scans, compiled once for all steps.
#pragma once

#include "kernels/primitives/workspace.cuh"

namespace workbench {

/// Stable sort by the bits [begin_bit, end_bit) of the keys. May replace the arrays by others of the same size.
void sort_pairs(Workspace& workspace, WorkspaceArray<std::uint64_t>& keys, WorkspaceArray<std::uint32_t>& values, int begin_bit,
                int end_bit);

/// Replaces the counts by their inclusive prefix sums.
void sum_up(Workspace& workspace, WorkspaceArray<Offset>& counts);

}  // namespace workbench
