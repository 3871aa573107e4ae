// The Voronoi cell of one node among nodes of which one lies in each cube of a lattice.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pipeline/matrix/types.hpp"

namespace workbench {

/// A difference of two nodes. Coordinates are integers: the edge of a cube is `lattice_edge` of them.
using LatticeVector = std::array<std::int64_t, 3>;

inline constexpr std::int64_t lattice_edge = 1024;

/// A sphere of radius sqrt(3) edges holds a whole cube, and so a node: a corner of a cell is nearer to its node, and nodes
/// whose squared distance is more than this share no face.
inline constexpr std::int64_t farthest_square = 12 * lattice_edge * lattice_edge;

[[nodiscard]] constexpr std::int64_t square_of(const LatticeVector& a) { return a[0] * a[0] + a[1] * a[1] + a[2] * a[2]; }

/// What the half spaces nearer to the node than to its neighbours have in common: a convex polyhedron, with the node at its
/// origin. It begins as a cube of four edges, from which one neighbour after the other cuts what is nearer to that.
///
/// The polyhedron is stored as its corners, each with the three planes that meet there; where more meet, several corners lie at
/// one place. Whether a corner is cut off is the sign of a determinant of integers, and those fit 64 bits: what is decided is
/// exact, and the same everywhere. Only the places of the corners are rounded. After: Ray, Sokolov, Lefebvre, Levy, "Meshless
/// Voronoi on the GPU" (2018), section 3, there with rounded determinants.
class VoronoiCell {
public:
    /// The whole cube again.
    void begin();

    /// Can a neighbour at this squared distance still cut anything off?
    [[nodiscard]] bool is_reached_from(std::int64_t square) const {
        return square <= farthest_square && static_cast<double>(square) <= reach_;
    }

    /// Cuts off what is nearer to the neighbour at `to`, whose square is from 1 to farthest_square. `name` is the caller's.
    void cut(const LatticeVector& to, Index name);

    /// A neighbour that has cut something off. Later ones may have taken all of its face.
    struct Neighbour {
        LatticeVector to;
        Index name;  // -1: a side of the cube at the beginning
    };
    [[nodiscard]] const std::vector<Neighbour>& neighbours() const { return neighbours_; }

    /// The area of the face towards neighbours()[neighbour] over the distance of the two nodes, in edges; 0 where there is
    /// none.
    [[nodiscard]] double area_over_distance(std::size_t neighbour);

private:
    struct Corner {
        std::array<std::uint16_t, 3>
            planes;               // counterclockwise, seen from outside: the determinant of their normals is positive
        LatticeVector numerator;  // its place is numerator / (2 determinant)
        std::int64_t determinant;
        std::array<double, 3> place;
        double square;
    };
    struct FaceCorner {
        std::uint16_t from;  // the planes beside the face at this corner, counterclockwise
        std::uint16_t to;
        std::array<double, 3> place;
    };

    void add_corner(std::uint16_t a, std::uint16_t b, std::uint16_t c);
    void measure_reach();

    std::vector<Neighbour> neighbours_;
    std::vector<Corner> corners_;
    std::vector<std::uint32_t> cut_edges_;  // two planes each
    std::vector<FaceCorner> face_;
    double reach_ = 0;  // squared distance of the farthest neighbour that can cut
};

}  // namespace workbench
