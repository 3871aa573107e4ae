// Passes entries sorted by tiles from the GPU to the host, which makes shares from them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/matrix/cuts.hpp"
#include "core/matrix/shares.hpp"

namespace workbench {

/// The entries of a matrix sorted by tiles, as the GPU returns them.
struct TiledEntries {
    HostArray<std::uint64_t> row_keys;     // [rows present, summed over tiles] tile << row_bits | row; ascending
    HostArray<std::uint32_t> row_entries;  // [like row_keys] the first entry of each row
    HostArray<std::uint32_t> tile_rows;    // [tiles with nonzeros] the first row present in each tile
    HostArray<std::uint32_t> entries;      // [nonzeros] positions in CsrMatrix::values
    int row_bits = 0;
};

/// Makes the shares with all cores.
[[nodiscard]] std::vector<Share> shares_of(const TiledEntries& tiled, const Cuts* row_blocks, const Cuts& segments);

}  // namespace workbench
