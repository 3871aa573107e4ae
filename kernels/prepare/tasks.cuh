// The tasks of Preparer on a GPU. Each throws NoRoom if its arrays do not fit and then frees what it allocated. Callers pass at
// least one row and one nonzero, or at least one item.
#pragma once

#include "core/matrix/preparer.hpp"
#include "kernels/prepare/tiled_entries.hpp"
#include "kernels/prepare/workspace.cuh"

namespace workbench {

[[nodiscard]] std::vector<Index> sort_on_gpu(Workspace& workspace, const SortTask& task);
[[nodiscard]] std::optional<LevelOrder> cuthill_mckee_on_gpu(Workspace& workspace, const CsrMatrix& matrix, bool reversed);
[[nodiscard]] std::vector<Index> place_by_hash_on_gpu(Workspace& workspace, const HashTask& task, Index most_rows);
[[nodiscard]] CsrMatrix permute_on_gpu(Workspace& workspace, const CsrMatrix& matrix, const Permutation& row_order,
                                       const Permutation& column_order);
[[nodiscard]] DividedEntries divide_on_gpu(Workspace& workspace, const CsrMatrix& matrix, const ShareView& view,
                                           const Division& division);
[[nodiscard]] std::int64_t fill_slices_on_gpu(Workspace& workspace, const SliceTask& task);

/// The number of a tile is row block * segments + segment.
[[nodiscard]] TiledEntries tile_on_gpu(Workspace& workspace, const CsrMatrix& matrix, const Cuts* row_blocks,
                                       const Cuts& segments);

}  // namespace workbench
