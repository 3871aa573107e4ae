#include <algorithm>

#include "kernels/device/host_loops.hpp"
#include "kernels/prepare/tiled_entries.hpp"

namespace workbench {
namespace {

ShareId id_of(std::uint64_t tile, const Cuts* row_blocks, const Cuts& segments) {
    const auto count = static_cast<std::uint64_t>(segments.count());
    if (row_blocks == nullptr) return {.kind = ShareKind::segment, .segment = static_cast<Index>(tile)};
    return {ShareKind::tile, static_cast<Index>(tile / count), static_cast<Index>(tile % count)};
}

}  // namespace

std::vector<Share> shares_of(const TiledEntries& tiled, const Cuts* row_blocks, const Cuts& segments) {
    const std::size_t tiles = tiled.tile_rows.size();
    const std::uint64_t row_mask = (std::uint64_t{1} << tiled.row_bits) - 1;
    const auto first_entry = [&](std::size_t row) {
        return row < tiled.row_entries.size() ? tiled.row_entries[row] : tiled.entries.size();
    };
    std::vector<Share> shares(tiles);
    for_each_in_parallel(static_cast<std::int64_t>(tiles), 1, [&](std::int64_t tile) {
        const std::size_t begin = tiled.tile_rows[tile];
        const std::size_t end = static_cast<std::size_t>(tile) + 1 < tiles ? tiled.tile_rows[tile + 1] : tiled.row_keys.size();
        const std::size_t first = first_entry(begin);
        Share& share = shares[tile];
        share.id = id_of(tiled.row_keys[begin] >> tiled.row_bits, row_blocks, segments);
        share.rows.resize(end - begin);
        share.row_offsets.resize(end - begin + 1);
        for (std::size_t row = begin; row < end; ++row) {
            share.rows[row - begin] = static_cast<Index>(tiled.row_keys[row] & row_mask);
            share.row_offsets[row - begin + 1] = static_cast<Offset>(first_entry(row + 1) - first);
        }
        share.entries.assign(tiled.entries.begin() + static_cast<std::ptrdiff_t>(first),
                             tiled.entries.begin() + static_cast<std::ptrdiff_t>(first_entry(end)));
    });
    return shares;
}

}  // namespace workbench
