#include "viz/raster.hpp"

#include <fmt/format.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "viz/text.hpp"

namespace workbench {
namespace {

/// A common number of rows in every bin avoids the moiré of bins with now one, now two rows; it is chosen where it does not
/// cost more than a fifth of the resolution.
int bins_along(std::int64_t length, int resolution) {
    if (length <= resolution) return static_cast<int>(length);
    const std::int64_t rows_a_bin = (length + resolution - 1) / resolution;
    const int even_bins = static_cast<int>((length + rows_a_bin - 1) / rows_a_bin);
    return even_bins * 5 >= resolution * 4 ? even_bins : resolution;
}

int bins_in_proportion(Index length, Index longer, int longer_bins) {
    const std::int64_t exact = (std::int64_t{length} * longer_bins + longer / 2) / std::max<Index>(longer, 1);
    return static_cast<int>(
        std::clamp<std::int64_t>(exact, std::min<std::int64_t>(length, std::max(1, longer_bins / 16)), length));
}

int bin_of(Index position, int bins, Index length) { return static_cast<int>(std::int64_t{position} * bins / length); }

/// The first position of each bin, and the length of the axis.
std::vector<Index> bin_edges(Index length, int bins) {
    std::vector<Index> edges(bins + 1);
    for (int bin = 0; bin < bins; ++bin) edges[bin] = static_cast<Index>((std::int64_t{bin} * length + bins - 1) / bins);
    edges[bins] = length;
    return edges;
}

template <typename Body>
void for_each_bin(int bins, const Body& body) {
    using Policy = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>>;
    Kokkos::parallel_for("rasterise", Policy(0, bins), body);
}

void count_all(const CsrMatrix& matrix, PatternRaster& raster) {
    const int column_bins = raster.column_bins();
    std::vector<Offset>& plane = raster.planes[0];
    for_each_bin(raster.row_bins(), [&](int bin) {
        Offset* line = plane.data() + std::int64_t{bin} * column_bins;
        for (Index row = raster.row_edges[bin]; row < raster.row_edges[bin + 1]; ++row) {
            raster.longest_row[bin] = std::max(raster.longest_row[bin], matrix.row_length(row));
            for (const Index column : matrix.row_columns(row)) ++line[bin_of(column, column_bins, matrix.columns)];
        }
    });
}

/// Moves the nonzeros that are not in the first share to plane 1.
void divide_planes(const CsrMatrix& matrix, const Share& first, PatternRaster& raster) {
    constexpr Index absent = -1;
    std::vector<Index> stored_at(matrix.rows, absent);
    for (std::size_t stored = 0; stored < first.rows.size(); ++stored) {
        stored_at[first.rows[stored]] = static_cast<Index>(stored);
    }

    const int column_bins = raster.column_bins();
    const ShareView share(first);
    raster.planes[1].swap(raster.planes[0]);
    raster.planes[0].assign(raster.planes[1].size(), 0);
    for_each_bin(raster.row_bins(), [&](int bin) {
        Offset* inside = raster.planes[0].data() + std::int64_t{bin} * column_bins;
        Offset* others = raster.planes[1].data() + std::int64_t{bin} * column_bins;
        for (Index row = raster.row_edges[bin]; row < raster.row_edges[bin + 1]; ++row) {
            const Index stored = stored_at[row];
            const Offset length = stored == absent ? 0 : share.length(stored);
            for (Offset k = 0; k < length; ++k) {
                const int column_bin = bin_of(matrix.column_indices[share.entry(stored, k)], column_bins, matrix.columns);
                ++inside[column_bin];
                --others[column_bin];
            }
        }
    });
}

void count_stored_rows(const Share& share, PatternRaster& raster) {
    const ShareView view(share);
    raster.stored_rows = view.row_count();
    for (Index stored = 0; stored < view.row_count(); ++stored) {
        const std::size_t bin = bin_of(stored, raster.row_bins(), raster.rows);
        if (bin >= raster.stored_total.size()) {
            raster.stored_total.push_back(0);
            raster.stored_longest.push_back(0);
        }
        raster.stored_total[bin] += view.length(stored);
        raster.stored_longest[bin] = std::max(raster.stored_longest[bin], view.length(stored));
    }
}

/// A tile, and the row of the picture that its first stored row lies in.
struct PlacedTile {
    const Share* share = nullptr;
    Index first_row = 0;
    Index first_column = 0;
};

/// The tiles with nonzeros, from top to bottom.
std::vector<PlacedTile> place_tiles(const StagedMatrix& staged) {
    const Cuts* blocks = staged.find_cuts(CutKind::row_block);
    const Cuts* segments = staged.find_cuts(CutKind::segment);
    std::vector<PlacedTile> tiles;
    for (const Share& share : staged.shares) {
        if (share.entries.empty()) continue;
        const Index first_row = blocks == nullptr ? 0 : blocks->begin(share.id.row_block);
        tiles.push_back({&share, first_row, segments->begin(share.id.segment)});
    }
    std::stable_sort(tiles.begin(), tiles.end(),
                     [](const PlacedTile& a, const PlacedTile& b) { return a.first_row < b.first_row; });
    return tiles;
}

/// Calls visit(tile, stored row) for all rows that tiles store in places begin .. end - 1.
template <typename Visit>
void for_each_tile_row(const std::vector<PlacedTile>& tiles, const Cuts* blocks, Index begin, Index end, const Visit& visit) {
    const Index first_row = blocks == nullptr ? 0 : blocks->begin(blocks->piece_at(begin));
    auto tile = std::lower_bound(tiles.begin(), tiles.end(), first_row,
                                 [](const PlacedTile& one, Index row) { return one.first_row < row; });
    for (; tile != tiles.end() && tile->first_row < end; ++tile) {
        const Index last = std::min(static_cast<Index>(tile->share->rows.size()), end - tile->first_row);
        for (Index stored = std::max(begin - tile->first_row, Index{0}); stored < last; ++stored) visit(*tile, stored);
    }
}

void count_tiles(const StagedMatrix& staged, const std::vector<PlacedTile>& tiles, PatternRaster& raster) {
    const CsrMatrix& matrix = staged.matrix;
    const Cuts* blocks = staged.find_cuts(CutKind::row_block);
    const int column_bins = raster.column_bins();
    raster.tiles = static_cast<Index>(tiles.size());
    raster.rows_in_tiles.resize(raster.row_bins());
    for_each_bin(raster.row_bins(), [&](int bin) {
        Offset* line = raster.planes[0].data() + std::int64_t{bin} * column_bins;
        const auto count = [&](const PlacedTile& tile, Index stored) {
            const ShareView share(*tile.share);
            ++raster.rows_in_tiles[bin];
            raster.longest_row[bin] = std::max(raster.longest_row[bin], share.length(stored));
            for (Offset k = 0; k < share.length(stored); ++k) {
                ++line[bin_of(matrix.column_indices[share.entry(stored, k)], column_bins, matrix.columns)];
            }
        };
        for_each_tile_row(tiles, blocks, raster.row_edges[bin], raster.row_edges[bin + 1], count);
    });
}

void name_planes(const std::vector<Share>& shares, PatternRaster& raster) {
    if (raster.tiles > 0) {
        raster.plane_names.push_back(
            fmt::format("nonzeros of {} {}, rows as stored", grouped(raster.tiles), raster.tiles == 1 ? "tile" : "tiles"));
        return;
    }
    raster.plane_names.push_back(shares.empty() ? "nonzeros" : name_of(shares.front().id));
    if (shares.size() == 2) raster.plane_names.push_back(name_of(shares.back().id));
    if (shares.size() > 2) raster.plane_names.push_back(fmt::format("{} other shares", shares.size() - 1));
}

/// The edges of bins that are nearest to the inner boundaries, each once, without the ends of the axis.
std::vector<int> cut_bins(const Cuts& cuts, const std::vector<Index>& edges) {
    std::vector<int> bins;
    for (Index piece = 1; piece < cuts.count(); ++piece) {
        const Index boundary = cuts.begin(piece);
        auto edge = std::lower_bound(edges.begin(), edges.end(), boundary);
        if (edge != edges.begin() && boundary - *(edge - 1) < *edge - boundary) --edge;
        const bool inner = edge != edges.begin() && edge != edges.end() - 1;
        const int bin = static_cast<int>(edge - edges.begin());
        if (inner && (bins.empty() || bins.back() != bin)) bins.push_back(bin);
    }
    return bins;
}

void mark_cuts(const std::vector<Cuts>& all_cuts, PatternRaster& raster) {
    for (const Cuts& cuts : all_cuts) {
        if (cuts.kind == CutKind::partition) {
            raster.partition = cut_bins(cuts, raster.row_edges);
        } else if (cuts_columns(cuts.kind)) {
            raster.column_cuts = cut_bins(cuts, raster.column_edges);
        } else {
            const std::vector<int> more = cut_bins(cuts, raster.row_edges);
            raster.row_cuts.insert(raster.row_cuts.end(), more.begin(), more.end());
        }
    }
}

void keep_tile_entries(const StagedMatrix& staged, const std::vector<PlacedTile>& tiles, PatternRaster& raster) {
    const CsrMatrix& matrix = staged.matrix;
    for (const PlacedTile& tile : tiles) {
        const ShareView share(*tile.share);
        for (Index stored = 0; stored < share.row_count(); ++stored) {
            const Index place = tile.first_row + stored;
            raster.tile_rows.push_back({place, tile.first_column, staged.row_order.old_of_new(share.row(stored))});
            for (Offset k = 0; k < share.length(stored); ++k) {
                const Offset entry = share.entry(stored, k);
                raster.values[static_cast<std::size_t>(place) * matrix.columns + matrix.column_indices[entry]] =
                    matrix.values[entry];
            }
        }
    }
}

void keep_entries(const StagedMatrix& staged, const std::vector<PlacedTile>& tiles, PatternRaster& raster) {
    const CsrMatrix& matrix = staged.matrix;
    raster.values.resize(static_cast<std::size_t>(matrix.rows) * matrix.columns);
    raster.original_columns.assign(staged.column_order.old_of_new().begin(), staged.column_order.old_of_new().end());
    if (raster.tiles > 0) return keep_tile_entries(staged, tiles, raster);
    raster.original_rows.assign(staged.row_order.old_of_new().begin(), staged.row_order.old_of_new().end());
    if (raster.stored_rows > 0) {
        for (const Index row : staged.shares.back().rows) raster.stored_originals.push_back(raster.original_rows[row]);
    }
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
            raster.values[static_cast<std::size_t>(row) * matrix.columns + matrix.column_indices[k]] = matrix.values[k];
        }
    }
}

}  // namespace

Offset PatternRaster::count(int plane, int row_bin, int column_bin) const {
    return planes[plane].empty() ? 0 : planes[plane][static_cast<std::size_t>(row_bin) * column_bins() + column_bin];
}

Offset PatternRaster::count(int row_bin, int column_bin) const {
    return count(0, row_bin, column_bin) + count(1, row_bin, column_bin);
}

Offset PatternRaster::row_bin_total(int plane, int row_bin) const {
    Offset total = 0;
    for (int column_bin = 0; column_bin < column_bins(); ++column_bin) total += count(plane, row_bin, column_bin);
    return total;
}

PatternRaster rasterise(const StagedMatrix& staged, int resolution) {
    if (resolution < 16) throw std::invalid_argument("a raster has a resolution of at least 16");
    const CsrMatrix& matrix = staged.matrix;
    const Index longer = std::max(matrix.rows, matrix.columns);
    const int longer_bins = bins_along(longer, resolution);

    PatternRaster raster;
    raster.rows = matrix.rows;
    raster.columns = matrix.columns;
    raster.nonzeros = matrix.nonzeros();
    raster.row_edges = bin_edges(matrix.rows, bins_in_proportion(matrix.rows, longer, longer_bins));
    raster.column_edges = bin_edges(matrix.columns, bins_in_proportion(matrix.columns, longer, longer_bins));
    raster.planes[0].resize(static_cast<std::size_t>(raster.row_bins()) * raster.column_bins());
    raster.longest_row.resize(raster.row_bins());

    const std::vector<PlacedTile> tiles = staged.has_tiles() ? place_tiles(staged) : std::vector<PlacedTile>{};
    if (!tiles.empty()) {
        count_tiles(staged, tiles, raster);
    } else {
        count_all(matrix, raster);
        if (staged.shares.size() > 1) divide_planes(matrix, staged.shares.front(), raster);
        if (staged.shares.size() == 2) count_stored_rows(staged.shares.back(), raster);
    }
    name_planes(staged.shares, raster);
    mark_cuts(staged.cuts, raster);
    if (longer <= std::min<Index>(largest_shown_by_entry, resolution)) keep_entries(staged, tiles, raster);
    return raster;
}

}  // namespace workbench
