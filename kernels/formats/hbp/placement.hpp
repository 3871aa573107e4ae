// Assigns the rows of the tiles to stored rows, batches and chunks, and partial results to the groups that merge them.
#pragma once

#include <cstddef>
#include <vector>

#include "core/matrix/shares.hpp"
#include "kernels/formats/hbp/layout.hpp"

namespace workbench {

inline constexpr int groups_of_thread = 32;  // groups of rows to merge that a thread of the host takes at a time

/// A row of its share, or every stride-th entry of one from `first` on.
struct HbpStoredRow {
    Index row = 0;  // of the share
    Index first = 0;
    Index stride = 1;
    Index length = 0;  // entries
};

/// The most nonzeros of a stored row, and of a chunk of several batches.
struct HbpLimits {
    Index row = 0;
    Index chunk = 0;  // batches are not divided
};

/// Arrays of the same names as in Hbp, and what their entries come from.
struct HbpPlacement {
    HostArray<HbpStoredRow> stored_rows;
    HostArray<Index> chunk_tiles;  // [chunks] the tile of each
    HostArray<Index> chunk_batches;
    HostArray<Offset> begin_ptr;
    HostArray<Index> batch_rows;
    HostArray<Index> output_order;
    HostArray<Index> absent_rows;
    HostArray<Index> merge_rows;
    HostArray<Index> merge_results;
    HostArray<Index> merged_rows;
    HostArray<Index> merged_counts;
};

/// Places the rows tile by tile; longer rows become several neighbouring stored rows of about equal length, in one batch if 32
/// lanes suffice. Throws Unsuitable if the number of stored rows exceeds 32 bits.
[[nodiscard]] HbpPlacement place_in_batches(const std::vector<Share>& tiles, Index row_count, const HbpLimits& limits);

/// The first chunk of each block of rows, [blocks + 1], from the block of each chunk. Chunks of different blocks have no row in
/// common, so that blocks can be placed in parallel. One block if the chunks of a block are not neighbours.
[[nodiscard]] std::vector<std::size_t> hbp_block_chunks(const std::vector<Index>& row_blocks);

/// Deals the first `dealt` chunks to warps, neighbouring chunks with about the same number of entries to each: [warps + 1]
/// first chunk of each.
[[nodiscard]] HostArray<Index> deal_hbp_chunks(const HostArray<Index>& chunk_batches, const HostArray<Offset>& begin_ptr,
                                               Index dealt, Index warps);

}  // namespace workbench
