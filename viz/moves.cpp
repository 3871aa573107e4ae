#include "viz/moves.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "core/matrix/random.hpp"
#include "viz/placed_rows.hpp"

namespace workbench {
namespace {

constexpr int bins_an_entry = 10;

/// The place of a nonzero in the input, as one number.
std::uint64_t key_of(Index row, Index column) {
    return static_cast<std::uint64_t>(row) << 32U | static_cast<std::uint64_t>(column);
}

std::vector<Index> equal_edges(Index length, int bins_each) {
    std::vector<Index> edges{0};
    for (int bin = 1; bin <= length * bins_each; ++bin) edges.push_back(bin);
    return edges;
}

}  // namespace

bool MovingEntries::moves_to(const MovingEntries& other) const {
    const auto stays = [](const MatrixPlace& a, const MatrixPlace& b) { return a.row == b.row && a.column == b.column; };
    return !std::equal(places.begin(), places.end(), other.places.begin(), other.places.end(), stays);
}

MovingEntries moving_entries(const StagedMatrix& staged, Offset most) {
    const CsrMatrix& matrix = staged.matrix;
    MovingEntries moving{matrix.rows, matrix.columns, matrix.nonzeros(), {}};
    constexpr std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
    const bool is_sample = matrix.nonzeros() > most;
    const double share = is_sample ? static_cast<double>(most) / static_cast<double>(matrix.nonzeros()) : 1;
    const auto limit = is_sample ? static_cast<std::uint64_t>(static_cast<double>(all) * share) : all;

    std::vector<std::pair<std::uint64_t, MovingEntries::MatrixPlace>> found;
    Placement(staged).for_each_row(0, matrix.rows, [&](const PlacedRow& row) {
        const Index original_row = staged.row_order.old_of_new(row.matrix_row);
        row.for_each_entry([&](Offset entry, int plane) {
            const Index column = matrix.column_indices[entry];
            const std::uint64_t key = key_of(original_row, staged.column_order.old_of_new(column));
            if (mixed(key) <= limit) found.emplace_back(key, MovingEntries::MatrixPlace{row.row, column, plane});
        });
    });
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [key, place] : found) moving.places.push_back(place);
    return moving;
}

PatternRaster raster_between(const MovingEntries& from, const MovingEntries& to, int step, int steps,
                             const PatternRaster& like) {
    if (from.places.size() != to.places.size() || steps < 1)
        throw std::invalid_argument("the stages do not have the same moving nonzeros");
    const bool entries = like.shows_entries();
    PatternRaster raster;
    raster.rows = from.rows;
    raster.columns = from.columns;
    raster.nonzeros = from.nonzeros;
    raster.row_edges = entries ? equal_edges(from.rows, bins_an_entry) : like.row_edges;
    raster.column_edges = entries ? equal_edges(from.columns, bins_an_entry) : like.column_edges;
    raster.plane_names = like.plane_names;
    const auto size = static_cast<std::size_t>(raster.row_bins()) * raster.column_bins();
    const bool planes = std::any_of(from.places.begin(), from.places.end(), [](const auto& place) { return place.plane > 0; });
    raster.planes[0].resize(size);
    if (planes) raster.planes[1].resize(size);
    raster.longest_row.resize(raster.row_bins());
    const Offset weight =
        from.places.empty() ? 1 : std::max<Offset>(1, from.nonzeros / static_cast<Offset>(from.places.size()));
    // The bin of a position between a and b, rounded down.
    const auto between = [&](Index a, Index b, int bins, Index length) {
        const std::int64_t doubled = (2 * std::int64_t{a} + 1) * (steps - step) + (2 * std::int64_t{b} + 1) * step;
        return static_cast<int>(doubled * bins / (std::int64_t{length} * 2 * steps));
    };
    for (std::size_t i = 0; i < from.places.size(); ++i) {
        const MovingEntries::MatrixPlace& a = from.places[i];
        const MovingEntries::MatrixPlace& b = to.places[i];
        const int row = between(a.row, b.row, raster.row_bins(), raster.rows);
        const int column = between(a.column, b.column, raster.column_bins(), raster.columns);
        const int reach = entries ? bins_an_entry / 2 - 1 : 0;
        for (int y = std::max(row - reach, 0); y <= std::min(row + reach, raster.row_bins() - 1); ++y) {
            for (int x = std::max(column - reach, 0); x <= std::min(column + reach, raster.column_bins() - 1); ++x) {
                raster.planes.at(planes ? a.plane : 0)[static_cast<std::size_t>(y) * raster.column_bins() + x] += weight;
            }
        }
    }
    return raster;
}

}  // namespace workbench
