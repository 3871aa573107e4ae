#include "core/input/generators/voronoi_cell.hpp"

#include <algorithm>
#include <utility>

namespace workbench {
namespace {

// With e = lattice_edge = 2^10: neighbours are at most 4 e away (sides of the initial cube; others sqrt(12) e), and coordinates
// of corners are at most 2 e. A determinant is then at most 2^6 e^3 and a numerator 2^8 e^4 (2^10 e^4 in intermediate results).
// The sum of both sides of the test whether a corner is cut off is less than 2^12 e^5 = 2^62.
static_assert(lattice_edge <= 1024);

LatticeVector cross(const LatticeVector& a, const LatticeVector& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

std::int64_t dot(const LatticeVector& a, const LatticeVector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

constexpr std::uint32_t edge_of(std::uint32_t a, std::uint32_t b) { return a << 16 | b; }
constexpr std::uint32_t reversed(std::uint32_t edge) { return edge << 16 | edge >> 16; }

}  // namespace

void VoronoiCell::begin() {
    neighbours_.clear();
    corners_.clear();
    for (int axis = 0; axis < 3; ++axis) {
        for (const int sign : {1, -1}) {
            LatticeVector to{};
            to[axis] = sign * 4 * lattice_edge;
            neighbours_.push_back({to, -1});
        }
    }
    for (const std::uint16_t x : {0, 1}) {
        for (const std::uint16_t y : {2, 3}) {
            for (const std::uint16_t z : {4, 5}) {
                const bool even = (x + y + z) % 2 == 0;
                add_corner(x, even ? y : z, even ? z : y);
            }
        }
    }
    measure_reach();
}

/// The point equidistant from the node and three neighbours p solves p . x = p . p / 2 for each p (Cramer's rule).
void VoronoiCell::add_corner(std::uint16_t a, std::uint16_t b, std::uint16_t c) {
    const LatticeVector& p = neighbours_[a].to;
    const LatticeVector& q = neighbours_[b].to;
    const LatticeVector& r = neighbours_[c].to;
    const LatticeVector qr = cross(q, r);
    const LatticeVector rp = cross(r, p);
    const LatticeVector pq = cross(p, q);
    const std::int64_t pp = square_of(p);
    const std::int64_t qq = square_of(q);
    const std::int64_t rr = square_of(r);
    Corner corner{{a, b, c}, {}, dot(p, qr), {}, 0};
    for (int axis = 0; axis < 3; ++axis) {
        corner.numerator[axis] = pp * qr[axis] + qq * rp[axis] + rr * pq[axis];
        corner.place[axis] = static_cast<double>(corner.numerator[axis]) / static_cast<double>(2 * corner.determinant);
        corner.square += corner.place[axis] * corner.place[axis];
    }
    corners_.push_back(corner);
}

void VoronoiCell::measure_reach() {
    double farthest = 0;
    for (const Corner& corner : corners_) farthest = std::max(farthest, corner.square);
    reach_ = 4 * farthest * (1 + 0x1p-40);  // larger than any rounding error
}

void VoronoiCell::cut(const LatticeVector& to, Index name) {
    const std::int64_t square = square_of(to);
    cut_edges_.clear();
    for (std::size_t i = 0; i < corners_.size();) {
        const Corner& corner = corners_[i];
        if (dot(to, corner.numerator) <= square * corner.determinant) {
            ++i;
            continue;
        }
        const auto& [a, b, c] = corner.planes;
        cut_edges_.insert(cut_edges_.end(), {edge_of(a, b), edge_of(b, c), edge_of(c, a)});
        corners_[i] = corners_.back();
        corners_.pop_back();
    }
    if (cut_edges_.empty()) return;
    const auto plane = static_cast<std::uint16_t>(neighbours_.size());
    neighbours_.push_back({to, name});
    // Edges between two removed corners occur in both directions; all others intersect the plane.
    for (const std::uint32_t edge : cut_edges_) {
        if (std::find(cut_edges_.begin(), cut_edges_.end(), reversed(edge)) != cut_edges_.end()) continue;
        add_corner(static_cast<std::uint16_t>(edge >> 16), static_cast<std::uint16_t>(edge & 0xFFFF), plane);
    }
    measure_reach();
}

double VoronoiCell::area_over_distance(std::size_t neighbour) {
    face_.clear();
    for (const Corner& corner : corners_) {
        for (int k = 0; k < 3; ++k) {
            if (corner.planes[k] != neighbour) continue;
            face_.push_back({corner.planes[(k + 1) % 3], corner.planes[(k + 2) % 3], corner.place});
        }
    }
    if (face_.empty()) return 0;
    // Sort the corners counterclockwise around the face.
    for (std::size_t i = 1; i < face_.size(); ++i) {
        const auto next = std::find_if(face_.begin() + static_cast<std::ptrdiff_t>(i), face_.end(),
                                       [&](const FaceCorner& corner) { return corner.from == face_[i - 1].to; });
        std::swap(face_[i], *next);
    }
    // Triangles from the first corner; their normals are parallel to the line between the nodes.
    const LatticeVector& to = neighbours_[neighbour].to;
    const std::array<double, 3>& first = face_.front().place;
    double twice_area_times_distance = 0;
    for (std::size_t i = 2; i < face_.size(); ++i) {
        std::array<double, 3> a{};
        std::array<double, 3> b{};
        for (int axis = 0; axis < 3; ++axis) {
            a[axis] = face_[i - 1].place[axis] - first[axis];
            b[axis] = face_[i].place[axis] - first[axis];
        }
        twice_area_times_distance += static_cast<double>(to[0]) * (a[1] * b[2] - a[2] * b[1]) +
                                     static_cast<double>(to[1]) * (a[2] * b[0] - a[0] * b[2]) +
                                     static_cast<double>(to[2]) * (a[0] * b[1] - a[1] * b[0]);
    }
    return twice_area_times_distance / static_cast<double>(2 * square_of(to) * lattice_edge);
}

}  // namespace workbench
