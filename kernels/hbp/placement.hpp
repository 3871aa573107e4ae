// Where the rows of the tiles go: which are stored as several, their batches, and who merges what.
#pragma once

#include <vector>

#include "kernels/hbp/layout.hpp"
#include "pipeline/matrix/shares.hpp"

namespace workbench {

/// A stored row: a row of its share, or the part of one that has every stride-th entry from `first` on.
struct HbpStoredRow {
    Index row = 0;  // of the share
    Index first = 0;
    Index stride = 1;
    Index length = 0;  // entries
};

/// Beyond how many nonzeros rows and chunks are divided.
struct HbpLimits {
    Index row = 0;
    Index chunk = 0;  // a batch stays whole
};

/// The arrays of the same names in Hbp.
struct HbpPlacement {
    HostArray<HbpStoredRow> stored_rows;
    HostArray<Index> chunk_tiles;  // [chunks] the tile that each is of
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

/// Tile by tile, rows beyond the limit as several stored rows of about equal length, neighbours. Those of one row
/// are in one batch where 32 lanes are enough. Throws Unsuitable where there are more stored rows than 32 bits number.
[[nodiscard]] HbpPlacement place_in_batches(const std::vector<Share>& tiles, Index row_count, const HbpLimits& limits);

/// Deals the first `dealt` chunks to warps, neighbours to a warp, to all about as many entries: [warps + 1] first chunk of
/// each.
[[nodiscard]] HostArray<Index> deal_hbp_chunks(const HostArray<Index>& chunk_batches, const HostArray<Offset>& begin_ptr,
                                               Index dealt, Index warps);

}  // namespace workbench
