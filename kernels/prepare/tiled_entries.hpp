// Between the GPU, which sorts entries by tiles, and the host, which cuts shares from them.
#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/matrix/cuts.hpp"
#include "pipeline/matrix/shares.hpp"

namespace workbench {

/// The entries of a matrix by tiles, as the GPU leaves them: what the shares are cut from.
struct TiledEntries {
    HostArray<std::uint64_t> row_keys;     // [rows present in all tiles] tile and row: tile << row_bits | row; ascending
    HostArray<std::uint32_t> row_entries;  // [as many] the first entry of each
    HostArray<std::uint32_t> tile_rows;    // [tiles with nonzeros] the first row present of each
    HostArray<std::uint32_t> entries;      // [nonzeros] positions in CsrMatrix::values
    int row_bits = 0;
};

/// By all cores.
[[nodiscard]] std::vector<Share> shares_of(const TiledEntries& tiled, const Cuts* row_blocks, const Cuts& segments);

}  // namespace workbench
