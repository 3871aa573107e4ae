// The Voronoi cell of a node in a set with one node in each cube of a lattice.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/matrix/types.hpp"

namespace workbench {

/// The difference of two nodes, in integer coordinates: the edge of a cube is `lattice_edge`.
using LatticeVector = std::array<std::int64_t, 3>;

inline constexpr std::int64_t lattice_edge = 1024;

/// Upper bound of the squared distance of nodes that share a face: a sphere of radius sqrt(3) edges contains a whole cube and
/// thus a node, so each corner of a cell is closer than that to the cell's node.
inline constexpr std::int64_t farthest_square = 12 * lattice_edge * lattice_edge;

[[nodiscard]] constexpr std::int64_t square_of(const LatticeVector& a) { return a[0] * a[0] + a[1] * a[1] + a[2] * a[2]; }

/// The intersection of the half spaces closer to the node, at the origin, than to its neighbours: a convex polyhedron. It
/// starts as a cube of four edges, and each neighbour cuts off what is closer to the neighbour.
///
/// The polyhedron is stored as corners with the three planes that meet there; if more planes meet, several corners coincide.
/// The test whether a corner is cut off is the sign of an integer determinant that fits 64 bits, so it is exact and the same on
/// all machines; only the places of the corners are rounded. After Ray, Sokolov, Lefebvre, Levy, "Meshless Voronoi on the GPU"
/// (2018), section 3, which rounds determinants.
class VoronoiCell {
public:
    /// Resets the cell to the cube.
    void begin();

    /// False if no neighbour at this squared distance can cut anything off.
    [[nodiscard]] bool is_reached_from(std::int64_t square) const {
        return square <= farthest_square && static_cast<double>(square) <= reach_;
    }

    /// Cuts off what is closer to the neighbour at `to`, whose squared distance is 1 to farthest_square. `name` is stored with
    /// it.
    void cut(const LatticeVector& to, Index name);

    /// A neighbour that has cut something off; later cuts may have removed its face.
    struct Neighbour {
        LatticeVector to;
        Index name;  // -1: a side of the initial cube
    };
    [[nodiscard]] const std::vector<Neighbour>& neighbours() const { return neighbours_; }

    /// Area of the face towards neighbours()[neighbour] over the distance of the two nodes, in edges; 0 if there is no face.
    [[nodiscard]] double area_over_distance(std::size_t neighbour);

private:
    struct Corner {
        std::array<std::uint16_t, 3> planes;  // counterclockwise from outside: their normals have a positive determinant
        LatticeVector numerator;              // place = numerator / (2 determinant)
        std::int64_t determinant;
        std::array<double, 3> place;
        double square;
    };
    struct FaceCorner {
        std::uint16_t from;  // planes next to the face at this corner, counterclockwise
        std::uint16_t to;
        std::array<double, 3> place;
    };

    void add_corner(std::uint16_t a, std::uint16_t b, std::uint16_t c);
    void measure_reach();

    std::vector<Neighbour> neighbours_;
    std::vector<Corner> corners_;
    std::vector<std::uint32_t> cut_edges_;  // pairs of planes
    std::vector<FaceCorner> face_;
    double reach_ = 0;  // squared distance beyond which no neighbour can cut
};

}  // namespace workbench
