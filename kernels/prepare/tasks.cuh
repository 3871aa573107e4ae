// The tasks of Preparer on a GPU. Each throws NoRoom where its arrays do not fit, and leaves nothing behind then. None of them
// is asked for nothing: there is a row and a nonzero, or a thing.
#pragma once

#include "kernels/prepare/tiled_entries.hpp"
#include "kernels/prepare/workspace.cuh"
#include "pipeline/matrix/preparer.hpp"

namespace workbench {

[[nodiscard]] std::vector<Index> sort_on_gpu(Workspace& workspace, const SortTask& task);
[[nodiscard]] std::vector<Index> place_by_hash_on_gpu(Workspace& workspace, const HashTask& task, Index most_rows);
[[nodiscard]] CsrMatrix permute_on_gpu(Workspace& workspace, const CsrMatrix& matrix, const Permutation& row_order,
                                       const Permutation& column_order);
[[nodiscard]] DividedEntries divide_on_gpu(Workspace& workspace, const CsrMatrix& matrix, const ShareView& view,
                                           const Division& division);
[[nodiscard]] std::int64_t fill_slices_on_gpu(Workspace& workspace, const SliceTask& task);

/// A tile's number is row block * segments + segment.
[[nodiscard]] TiledEntries tile_on_gpu(Workspace& workspace, const CsrMatrix& matrix, const Cuts* row_blocks,
                                       const Cuts& segments);

}  // namespace workbench
