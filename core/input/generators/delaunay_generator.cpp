// The Laplace operator on an unstructured triangulation of the plane.
//
// One node lies at a random place in each square of an infinite grid. The nodes of nx x ny squares are the unknowns; all others
// have Dirichlet values and are eliminated. The nodes' Voronoi cells are the finite volumes: the flux between two cells is the
// length of their common edge over the distance of their nodes, half the sum of the cotangents of the angles opposite to the
// nodes' edge in its two Delaunay triangles. On a regular grid this gives the 5-point stencil. Source: Eymard, Gallouet,
// Herbin, "Finite volume methods" (2000), section 9.2: Voronoi meshes, two-point fluxes.
//
// A disc of radius sqrt(2) squares or more contains a whole square and thus a node, so the empty circumcircle of a triangle is
// smaller. The triangles at a node therefore depend only on squares at most 3 away. The plane is triangulated in parallel,
// tile by tile with a rim of 3 squares, by the sweep of Boost.Polygon with its exact predicates on integers.
#include <fmt/core.h>
#include <Kokkos_Core.hpp>
#include <boost/polygon/voronoi.hpp>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "core/input/generators/generator_kinds.hpp"
#include "core/matrix/guarded_loop.hpp"
#include "core/matrix/random.hpp"

namespace workbench {
namespace {

using Host = Kokkos::DefaultHostExecutionSpace;
using Tiles = Kokkos::RangePolicy<Host, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<Offset>>;
using Point = boost::polygon::point_data<std::int32_t>;
using Voronoi = boost::polygon::voronoi_diagram<double>;

constexpr std::int64_t tile_squares = 96;  // along an edge of a tile
constexpr std::int64_t rim = 3;
constexpr int place_bits = 22;  // of a coordinate within a square: those of a tile with its rim then fit 32 bits

struct DelaunayNeighbour {
    std::int64_t natural;  // orders all nodes, unknown or eliminated
    Index column;          // -1: eliminated
    double flux;
};

/// The rows of the nodes in one tile.
struct TileRows {
    std::vector<Index> rows;
    std::vector<Offset> offsets{0};
    std::vector<Index> columns;
    std::vector<double> values;
};

/// The cotangent of the angle at `apex` in the triangle with a and b. Differences have 25 bits, so their products are exact.
double cotangent(const Point& apex, const Point& a, const Point& b) {
    const std::int64_t ax = std::int64_t{a.x()} - apex.x();
    const std::int64_t ay = std::int64_t{a.y()} - apex.y();
    const std::int64_t bx = std::int64_t{b.x()} - apex.x();
    const std::int64_t by = std::int64_t{b.y()} - apex.y();
    return static_cast<double>(ax * bx + ay * by) / static_cast<double>(std::abs(ax * by - ay * bx));
}

/// The place of the node in a square of the infinite grid.
Point within_square(std::uint64_t seed, std::int64_t x, std::int64_t y) {
    const auto square = (static_cast<std::uint64_t>(y) << 32) ^ (static_cast<std::uint64_t>(x) & 0xFFFFFFFF);
    const std::uint64_t random = random_stream(seed, square).next();
    const auto within = [](std::uint64_t bits) { return static_cast<std::int32_t>(bits & ((1U << place_bits) - 1)); };
    return {within(random), within(random >> 32)};
}

class MeshTile {
public:
    /// The tile whose first square is (first_x, first_y), with its rim.
    MeshTile(const Grid& grid, std::uint64_t seed, std::int64_t first_x, std::int64_t first_y)
        : grid_(grid),
          seed_(seed),
          first_x_(first_x - rim),
          first_y_(first_y - rim),
          width_(std::min(tile_squares, grid.lengths[0] - first_x) + 2 * rim),
          height_(std::min(tile_squares, grid.lengths[1] - first_y) + 2 * rim) {
        for (std::int64_t y = 0; y < height_; ++y) {
            for (std::int64_t x = 0; x < width_; ++x) points_.push_back(node(x, y));
        }
    }

    [[nodiscard]] TileRows rows(const Permutation& order) const {
        Voronoi voronoi;
        boost::polygon::construct_voronoi(points_.begin(), points_.end(), &voronoi);
        TileRows result;
        for (const Voronoi::cell_type& cell : voronoi.cells()) {
            const auto place = static_cast<std::int64_t>(cell.source_index());
            const std::int64_t x = place % width_;
            const std::int64_t y = place / width_;
            if (x >= rim && x < width_ - rim && y >= rim && y < height_ - rim) add_row(cell, order, result);
        }
        return result;
    }

private:
    [[nodiscard]] Point node(std::int64_t x, std::int64_t y) const {
        const Point within = within_square(seed_, first_x_ + x, first_y_ + y);
        return {static_cast<std::int32_t>((x << place_bits) + within.x()),
                static_cast<std::int32_t>((y << place_bits) + within.y())};
    }

    void add_row(const Voronoi::cell_type& cell, const Permutation& order, TileRows& result) const {
        thread_local std::vector<DelaunayNeighbour> neighbours;
        neighbours.clear();
        const Point& here = points_[cell.source_index()];
        const auto beyond = [](const Voronoi::edge_type* edge) { return edge->twin()->cell()->source_index(); };
        const Voronoi::edge_type* edge = cell.incident_edge();
        do {
            const Point& there = points_[beyond(edge)];
            const double flux = (cotangent(points_[beyond(edge->prev())], here, there) +
                                 cotangent(points_[beyond(edge->next())], here, there)) /
                                2;
            neighbours.push_back(neighbour(beyond(edge), order, flux));
            edge = edge->next();
        } while (edge != cell.incident_edge());

        // Summing in an order that is independent of tiles and numbering makes the sum reproducible bit for bit.
        std::sort(neighbours.begin(), neighbours.end(), [](const auto& a, const auto& b) { return a.natural < b.natural; });
        double sum = 0;
        for (const DelaunayNeighbour& other : neighbours) sum += other.flux;
        const Index row = neighbour(cell.source_index(), order, 0).column;
        neighbours.push_back({0, row, -sum});
        std::erase_if(neighbours, [](const DelaunayNeighbour& other) { return other.column < 0; });
        std::sort(neighbours.begin(), neighbours.end(), [](const auto& a, const auto& b) { return a.column < b.column; });
        result.rows.push_back(row);
        for (const DelaunayNeighbour& other : neighbours) {
            result.columns.push_back(other.column);
            result.values.push_back(-other.flux);
        }
        result.offsets.push_back(static_cast<Offset>(result.columns.size()));
    }

    [[nodiscard]] DelaunayNeighbour neighbour(std::size_t place, const Permutation& order, double flux) const {
        const std::int64_t x = first_x_ + static_cast<std::int64_t>(place) % width_;
        const std::int64_t y = first_y_ + static_cast<std::int64_t>(place) / width_;
        const Grid::Place square{x, y, 0};
        const Index column = grid_.has(square) ? order.new_of_old(static_cast<Index>(grid_.number(square))) : -1;
        return {x + (grid_.lengths[0] + 2 * rim) * y, column, flux};
    }

    const Grid& grid_;
    std::uint64_t seed_;
    std::int64_t first_x_;
    std::int64_t first_y_;
    std::int64_t width_;
    std::int64_t height_;
    std::vector<Point> points_;
};

CsrMatrix assemble(Index rows, const std::vector<TileRows>& tiles) {
    CsrMatrix matrix;
    matrix.rows = matrix.columns = rows;
    matrix.row_offsets.resize(static_cast<std::size_t>(rows) + 1);
    const auto for_each_tile = [&](const auto& visit) {
        Kokkos::parallel_for("tiles", Tiles(0, static_cast<Offset>(tiles.size())), [&](Offset i) { visit(tiles[i]); });
    };
    for_each_tile([&](const TileRows& tile) {
        for (std::size_t i = 0; i < tile.rows.size(); ++i) {
            matrix.row_offsets[tile.rows[i] + 1] = tile.offsets[i + 1] - tile.offsets[i];
        }
    });
    std::partial_sum(matrix.row_offsets.begin(), matrix.row_offsets.end(), matrix.row_offsets.begin());
    matrix.column_indices.resize(matrix.nonzeros());
    matrix.values.resize(matrix.nonzeros());
    for_each_tile([&](const TileRows& tile) {
        for (std::size_t i = 0; i < tile.rows.size(); ++i) {
            const Offset to = matrix.row_offsets[tile.rows[i]];
            std::copy(tile.columns.begin() + tile.offsets[i], tile.columns.begin() + tile.offsets[i + 1],
                      matrix.column_indices.begin() + to);
            std::copy(tile.values.begin() + tile.offsets[i], tile.values.begin() + tile.offsets[i + 1],
                      matrix.values.begin() + to);
        }
    });
    return matrix;
}

/// From the natural numbering, x fastest, to that of the matrix.
Permutation order_of_nodes(const Parameters& parameters, Index rows) {
    const auto scramble = static_cast<std::uint64_t>(parameters.integer("scramble"));
    return scramble == 0 ? Permutation::identity(rows) : random_permutation(rows, scramble);
}

std::vector<NodePlace> delaunay_places(const Parameters& parameters) {
    const Grid grid = grid_of(parameters, 2);
    const auto rows = static_cast<Index>(grid.nodes());
    const auto seed = static_cast<std::uint64_t>(parameters.integer("seed"));
    const Permutation order = order_of_nodes(parameters, rows);
    std::vector<NodePlace> places(rows);
    for (Index node = 0; node < rows; ++node) {
        const auto [x, y, z] = grid.place(node);
        const Point within = within_square(seed, x, y);
        const auto along = [](std::int64_t square, std::int32_t in_square) {
            return static_cast<double>(square) + static_cast<double>(in_square) / (1U << place_bits);
        };
        places[order.new_of_old(node)] = {along(x, within.x()), along(y, within.y()), 0};
    }
    return places;
}

CsrMatrix delaunay(const Parameters& parameters) {
    const Grid grid = grid_of(parameters, 2);
    const auto [nx, ny, nz] = grid.lengths;
    // A planar graph has fewer than 3 edges per node. The rows are stored twice for a while, in tiles and in the matrix.
    const auto nodes = static_cast<double>(grid.nodes());
    check_generator_memory(nodes, 7 * nodes, 7 * nodes * (sizeof(Index) + sizeof(double)) + 24 * nodes);

    const auto rows = static_cast<Index>(grid.nodes());
    const auto seed = static_cast<std::uint64_t>(parameters.integer("seed"));
    const Permutation order = order_of_nodes(parameters, rows);
    const std::int64_t tiles_x = (nx + tile_squares - 1) / tile_squares;
    const std::int64_t tiles_y = (ny + tile_squares - 1) / tile_squares;
    std::vector<TileRows> tiles(tiles_x * tiles_y);
    guarded_for("delaunay", Tiles(0, tiles_x * tiles_y), [&](Offset tile) {
        tiles[tile] = MeshTile(grid, seed, tile % tiles_x * tile_squares, tile / tiles_x * tile_squares).rows(order);
    });
    return assemble(rows, tiles);
}

}  // namespace

std::vector<GeneratorEntry> delaunay_generators() {
    return {{"delaunay",
             "the Laplace operator by finite volumes on an unstructured triangulation of the plane, 6 neighbours on average",
             grid_parameters(2, {scramble_parameter(), seed_parameter()}), delaunay, nullptr, nullptr, delaunay_places}};
}

}  // namespace workbench
