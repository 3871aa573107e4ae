#include "viz/raster.hpp"

#include <fmt/format.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>

#include "core/text/words.hpp"
#include "viz/placed_rows.hpp"
#include "viz/text.hpp"

namespace workbench {
namespace {

/// Equal numbers of rows in all bins avoid a moiré pattern. They are preferred unless they cost more than a fifth of the
/// resolution.
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

void count_rows(const CsrMatrix& matrix, const Placement& placement, PatternRaster& raster) {
    const int column_bins = raster.column_bins();
    for_each_bin(raster.row_bins(), [&](int bin) {
        const std::int64_t first = std::int64_t{bin} * column_bins;
        const std::array lines{raster.planes[0].data() + first, raster.planes[placement.planes() > 1 ? 1 : 0].data() + first};
        placement.for_each_row(raster.row_edges[bin], raster.row_edges[bin + 1], [&](const PlacedRow& row) {
            raster.longest_row[bin] = std::max(raster.longest_row[bin], row.length);
            if (!placement.tiles().empty()) ++raster.rows_in_tiles[bin];
            row.for_each_entry([&](Offset entry, int plane) {
                ++lines[plane][bin_of(matrix.column_indices[entry], column_bins, matrix.columns)];
            });
        });
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

/// The bins whose edges are nearest to the inner boundaries, without duplicates and without the ends of the axis.
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

Index pieces_of(const Cuts& cuts) {
    Index count = 0;
    for (Index piece = 0; piece < cuts.count(); ++piece) count += cuts.size(piece) > 0 ? 1 : 0;
    return count;
}

void mark_cuts(const std::vector<Cuts>& all_cuts, PatternRaster& raster) {
    for (const Cuts& cuts : all_cuts) {
        const std::vector<int> bins = cut_bins(cuts, cuts_rows(cuts.kind) ? raster.row_edges : raster.column_edges);
        std::vector<int>& lines = raster.*boundaries_of(cuts.kind);
        lines.insert(lines.end(), bins.begin(), bins.end());
        raster.pieces.push_back({cuts.kind, pieces_of(cuts), static_cast<int>(bins.size())});
    }
}

void keep_entries(const StagedMatrix& staged, const Placement& placement, PatternRaster& raster) {
    const CsrMatrix& matrix = staged.matrix;
    raster.values.resize(static_cast<std::size_t>(matrix.rows) * matrix.columns);
    raster.original_columns.assign(staged.column_order.old_of_new().begin(), staged.column_order.old_of_new().end());
    if (placement.tiles().empty()) {
        raster.original_rows.assign(staged.row_order.old_of_new().begin(), staged.row_order.old_of_new().end());
    }
    if (raster.stored_rows > 0) {
        for (const Index row : staged.shares.back().rows) raster.stored_originals.push_back(raster.original_rows[row]);
    }
    placement.for_each_row(0, matrix.rows, [&](const PlacedRow& row) {
        if (!placement.tiles().empty()) {
            raster.tile_rows.push_back({row.row, row.first_column, staged.row_order.old_of_new(row.matrix_row)});
        }
        row.for_each_entry([&](Offset entry, int) {
            const std::size_t place = static_cast<std::size_t>(row.row) * matrix.columns + matrix.column_indices[entry];
            raster.values[place] = matrix.values[entry];
        });
    });
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

std::vector<int> slice_boundaries(const PatternRaster& raster) {
    if (raster.slice_height <= 0 || raster.tiles > 0 || raster.plane_names.size() > 1) return {};
    Cuts slices;
    for (Index row = 0; row < raster.rows; row += std::min(raster.slice_height, raster.rows - row)) {
        slices.boundaries.push_back(row + std::min(raster.slice_height, raster.rows - row));
    }
    return cut_bins(slices, raster.row_edges);
}

bool bins_fit_slices(const PatternRaster& raster) {
    for (Index row = raster.slice_height; raster.slice_height > 0 && row < raster.rows; row += raster.slice_height) {
        if (!std::binary_search(raster.row_edges.begin(), raster.row_edges.end(), row)) return false;
        if (raster.rows - row <= raster.slice_height) break;
    }
    return true;
}

std::optional<double> padding_of_slices(const PatternRaster& raster) {
    const bool has_slices = raster.slice_height > 0 && raster.tiles == 0 && raster.plane_names.size() == 1;
    if (!has_slices || raster.rows == 0 || !bins_fit_slices(raster)) return std::nullopt;
    std::vector<int> ends = slice_boundaries(raster);
    ends.push_back(raster.row_bins());
    Offset slots = 0;
    int begin = 0;
    for (const int end : ends) {
        const auto longest = raster.longest_row.begin();
        slots += *std::max_element(longest + begin, longest + end) * raster.slice_height;
        begin = end;
    }
    const Offset nonzeros = std::accumulate(raster.planes[0].begin(), raster.planes[0].end(), Offset{0});
    return slots == 0 ? 0.0 : 1 - static_cast<double>(nonzeros) / static_cast<double>(slots);
}

PatternRaster rasterise(const StagedMatrix& staged, int resolution) {
    if (resolution < 16) throw std::invalid_argument("a raster needs a resolution of at least 16");
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

    const Placement placement(staged);
    raster.shares = static_cast<Index>(staged.shares.size());
    raster.tiles = static_cast<Index>(placement.tiles().size());
    raster.plane_names = plane_names(staged);
    if (raster.tiles > 0) {
        raster.plane_names = {fmt::format("nonzeros of {}, rows as stored", counted_with_commas(raster.tiles, "tile"))};
    }
    if (placement.planes() > 1) raster.planes[1].resize(raster.planes[0].size());
    if (raster.tiles > 0) raster.rows_in_tiles.resize(raster.row_bins());
    count_rows(matrix, placement, raster);
    if (staged.shares.size() == 2 && raster.tiles == 0) count_stored_rows(staged.shares.back(), raster);
    mark_cuts(staged.cuts, raster);
    if (longer <= std::min<Index>(largest_shown_by_entry, resolution)) keep_entries(staged, placement, raster);
    return raster;
}

}  // namespace workbench
