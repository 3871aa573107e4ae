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

/// The number of stored rows of a row: at least one, since a share may list rows without entries.
[[nodiscard]] constexpr Offset hbp_parts_of(Offset nonzeros, Index row_limit) {
    return nonzeros <= row_limit ? 1 : (nonzeros + row_limit - 1) / row_limit;
}

/// What a tile has up to a place in it.
struct HbpCounts {
    Index stored_rows = 0;
    Index batches = 0;
    Index chunks = 0;
    Offset entries = 0;
};

/// Places the rows of one tile, one after another: calls use.row(HbpStoredRow, counts before it), use.batch(counts) behind a
/// batch, and use.chunk(counts) behind a chunk. For host and GPU.
template <typename Use>
class HbpTilePlacing {
public:
    constexpr HbpTilePlacing(const HbpLimits& limits, Use& use) : limits_(limits), use_(use) {}

    constexpr void place_row(Index row, Offset length) {
        const Offset parts = hbp_parts_of(length, limits_.row);
        if (counts_.stored_rows - batch_.stored_rows + parts > hbp_lanes) end_batch();
        for (Offset part = 0; part < parts; ++part) {
            if (counts_.stored_rows - batch_.stored_rows == hbp_lanes) end_batch();
            const Offset length_of_part = parts == 1 ? length : (length - part + parts - 1) / parts;
            use_.row(HbpStoredRow{.row = row,
                                  .first = static_cast<Index>(part),
                                  .stride = static_cast<Index>(parts),
                                  .length = static_cast<Index>(length_of_part)},
                     counts_);
            ++counts_.stored_rows;
            counts_.entries += length_of_part;
        }
    }

    constexpr void end() {
        end_batch();
        end_chunk();
    }

    [[nodiscard]] constexpr const HbpCounts& counts() const { return counts_; }

private:
    /// A batch that exceeds the limits of the chunk begins another one.
    constexpr void end_batch() {
        if (counts_.stored_rows == batch_.stored_rows) return;
        const bool is_full =
            counts_.batches - chunk_.batches == hbp_batches_of_chunk || counts_.entries - chunk_.entries > limits_.chunk;
        if (is_full) end_chunk();
        ++counts_.batches;
        use_.batch(counts_);
        batch_ = counts_;
    }

    /// The chunk ends with the last batch that ended.
    constexpr void end_chunk() {
        if (counts_.batches == chunk_.batches) return;
        ++counts_.chunks;
        use_.chunk(counts_);
        chunk_ = batch_;
    }

    HbpLimits limits_;
    Use& use_;
    HbpCounts counts_;
    HbpCounts batch_;  // before it
    HbpCounts chunk_;  // before it
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

/// [chunks + 1] The first entry of each chunk.
[[nodiscard]] HostArray<Offset> hbp_first_entries(const HostArray<Index>& chunk_batches, const HostArray<Offset>& begin_ptr);

/// Deals the first `dealt` chunks to warps, neighbouring chunks with about the same number of entries to each: [warps + 1]
/// first chunk of each. first_entries: [chunks + 1] the first entry of each chunk.
[[nodiscard]] HostArray<Index> deal_hbp_chunks(const HostArray<Offset>& first_entries, Index dealt, Index warps);

}  // namespace workbench
