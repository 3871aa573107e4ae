// finite_volume: cells are Voronoi cells, and matrices follow from the discretization.
#include <doctest/doctest.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "core/input/generators/hilbert_order.hpp"
#include "core/input/generators/voronoi_cell.hpp"
#include "core/input/inline_matrix.hpp"
#include "core/matrix/permutation.hpp"
#include "core/matrix/random.hpp"
#include "input/generated.hpp"
#include "support/eigen.hpp"

namespace workbench {
namespace {

/// Random nodes, one per cube, whose coordinates are multiples of edge / steps.
struct Nodes {
    int steps;

    [[nodiscard]] LatticeVector at(Index x, Index y, Index z) const {
        RandomStream random =
            random_stream(static_cast<std::uint64_t>(steps), static_cast<std::uint64_t>(x + 100 * (y + std::int64_t{100} * z)));
        const auto coordinate = [&](Index cube) {
            return cube * lattice_edge +
                   static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(steps))) * (lattice_edge / steps);
        };
        const std::int64_t first = coordinate(x);
        const std::int64_t second = coordinate(y);
        return {first, second, coordinate(z)};
    }
};

/// The cell in the middle of 9 x 9 x 9 cubes, cut by neighbours in random order. Neighbours are named
/// x + 9 (y + 9 z).
VoronoiCell middle_cell(const std::vector<LatticeVector>& nodes, std::uint64_t seed) {
    const Permutation order = random_permutation(729, seed);
    constexpr Index middle = 364;
    VoronoiCell cell;
    cell.begin();
    for (const Index i : order.old_of_new()) {
        LatticeVector to = nodes[i];
        for (int axis = 0; axis < 3; ++axis) to[axis] -= nodes[middle][axis];
        if (i != middle && cell.is_reached_from(square_of(to))) cell.cut(to, i);
    }
    return cell;
}

std::vector<LatticeVector> nine_cubed(const Nodes& nodes) {
    std::vector<LatticeVector> all;
    for (Index z = 0; z < 9; ++z) {
        for (Index y = 0; y < 9; ++y) {
            for (Index x = 0; x < 9; ++x) all.push_back(nodes.at(x, y, z));
        }
    }
    return all;
}

double distance(const LatticeVector& to) { return std::sqrt(static_cast<double>(square_of(to))) / lattice_edge; }

/// The area of each face, by neighbour.
std::vector<double> areas_of(VoronoiCell cell) {
    std::vector<double> areas(729);
    for (std::size_t i = 0; i < cell.neighbours().size(); ++i) {
        const auto& [to, name] = cell.neighbours()[i];
        const double area = cell.area_over_distance(i) * distance(to);
        if (name < 0) CHECK(area == 0);  // the initial cube is cut off completely
        if (name >= 0) areas[name] = area;
    }
    return areas;
}

Given with(Given given, const Given& more) {
    for (const auto& [name, value] : more) given[name] = value;
    return given;
}

struct RowSum {
    double diagonal = 0;
    double off_diagonal = 0;
    double largest_off_diagonal = -1e300;

    [[nodiscard]] double all() const { return diagonal + off_diagonal; }
};

RowSum row_sum(const CsrMatrix& matrix, Index row) {
    RowSum sum;
    for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
        if (matrix.column_indices[i] == row) {
            sum.diagonal = matrix.values[i];
        } else {
            sum.off_diagonal += matrix.values[i];
            sum.largest_off_diagonal = std::max(sum.largest_off_diagonal, matrix.values[i]);
        }
    }
    return sum;
}

const Given cubes{{"irregularity", 0.0}};

}  // namespace

TEST_CASE("Voronoi cells are closed and do not depend on the order of the planes, even in degenerate cases") {
    // With few possible places per node many corners belong to five or more cells; with one, every corner belongs to eight.
    for (const int steps : {1, 2, 4, 1024}) {
        CAPTURE(steps);
        const std::vector<LatticeVector> nodes = nine_cubed({steps});
        VoronoiCell cell = middle_cell(nodes, 1);
        std::array<double, 3> sum{};
        for (std::size_t i = 0; i < cell.neighbours().size(); ++i) {
            const double flow = cell.area_over_distance(i);
            CHECK(flow > -1e-14);
            const LatticeVector& to = cell.neighbours()[i].to;
            for (int axis = 0; axis < 3; ++axis) sum[axis] += flow * static_cast<double>(to[axis]) / lattice_edge;
        }
        for (const double component : sum) CHECK(std::abs(component) < 1e-13);
        const std::vector<double> areas = areas_of(cell);
        for (const std::uint64_t seed : {2, 3, 4, 5}) {
            const std::vector<double> again = areas_of(middle_cell(nodes, seed));
            for (std::size_t i = 0; i < areas.size(); ++i) CHECK(std::abs(areas[i] - again[i]) < 1e-13);
        }
        if (steps == 1) CHECK(std::count(areas.begin(), areas.end(), 1.0) == 6);
    }
}

TEST_CASE("Voronoi cells have faces with the nodes that share a nearest point, with the right areas") {
    // Each ray from the node leaves the cell through the face of the neighbour whose plane it hits first. The area that a
    // ray represents is its solid angle times r^2 / cos.
    const std::vector<LatticeVector> nodes = nine_cubed({1024});
    const LatticeVector& here = nodes[364];
    const std::vector<double> areas = areas_of(middle_cell(nodes, 1));
    std::vector<double> estimates(729);
    const int rays = 40000;
    RandomStream random{7};
    double volume = 0;
    for (int ray = 0; ray < rays;) {
        std::array<double, 3> direction{};
        double square = 0;
        for (double& component : direction) {
            component = static_cast<double>(random.next() >> 11) * 0x1p-52 - 1;
            square += component * component;
        }
        if (square > 1 || square < 1e-3) continue;
        ++ray;
        double nearest = 1e9;
        Index through = -1;
        double cosine = 0;
        for (Index i = 0; i < 729; ++i) {
            double along = 0;
            LatticeVector to{};
            for (int axis = 0; axis < 3; ++axis) {
                to[axis] = nodes[i][axis] - here[axis];
                along += static_cast<double>(to[axis]) / lattice_edge * direction[axis] / std::sqrt(square);
            }
            const double met = distance(to) * distance(to) / 2 / along;
            if (along <= 0 || met >= nearest) continue;
            nearest = met;
            through = i;
            cosine = along / distance(to);
        }
        REQUIRE(areas[through] > 0);
        estimates[through] += 4 * M_PI / rays * nearest * nearest / cosine;
        volume += 4 * M_PI / rays * nearest * nearest * nearest / 3;
    }
    double by_faces = 0;
    for (Index i = 0; i < 729; ++i) {
        CHECK(std::abs(estimates[i] - areas[i]) < 0.05);
        LatticeVector to{};
        for (int axis = 0; axis < 3; ++axis) to[axis] = nodes[i][axis] - here[axis];
        by_faces += areas[i] * distance(to) / 6;
    }
    CHECK(volume == doctest::Approx(by_faces).epsilon(0.01));
}

TEST_CASE("finite_volume on cubes, exactly") {
    CHECK(made("finite_volume", with(cubes, {{"nx", whole(5)}, {"ny", whole(4)}, {"nz", whole(3)}})) ==
          made("laplace3d", {{"nx", whole(5)}, {"ny", whole(4)}, {"nz", whole(3)}}));
    CHECK(made("finite_volume", with(cubes, {{"nx", whole(1)}, {"nz", whole(3)}, {"anisotropy", 4.0}})) ==
          csr_from_rows(std::vector<std::string>{"12 -4 .", "-4 12 -4", ". -4 12"}));
    // With the velocity (6, 3, 2) a cell has coefficients 1 + 6, 1 + 3 and 1 + 2 upstream, and 1 downstream.
    CHECK(made("finite_volume", with(cubes, {{"nx", whole(2)}, {"peclet", 7.0}})) ==
          csr_from_rows(std::vector<std::string>{"17 -1 -1 . -1 . . .", "-7 17 . -1 . -1 . .", "-4 . 17 -1 . . -1 .",
                                                 ". -4 -7 17 . . . -1", "-3 . . . 17 -1 -1 .", ". -3 . . -7 17 . -1",
                                                 ". . -3 . -4 . 17 -1", ". . . -3 . -4 -7 17"}));
}

TEST_CASE("finite_volume has the same bits on every machine") {
    const Given given{{"nx", whole(21)}, {"ny", whole(19)}, {"nz", whole(23)}};  // three blocks of cells
    CHECK(hash_of(made("finite_volume", given)) == 12373424225254204616U);
    CHECK(hash_of(made("finite_volume", with(given, {{"irregularity", 0.1}, {"smallest_face", 0.0}, {"seed", whole(2)}}))) ==
          14478632901687902205U);
    CHECK(hash_of(made("finite_volume",
                       with(given, {{"anisotropy", 0.3}, {"peclet", 2.5}, {"numbering", std::string("scrambled")}}))) ==
          7474711343098237417U);
}

TEST_CASE("finite_volume: diffusion is symmetric, interior rows sum to zero, cells have 4 to 20 neighbours") {
    const Index n = 24;
    for (const double irregularity : {0.1, 0.5, 1.0}) {
        CAPTURE(irregularity);
        const CsrMatrix matrix = made("finite_volume", {{"nx", whole(n)}, {"irregularity", irregularity}, {"anisotropy", 0.1}});
        CHECK(matrix == transpose(matrix));  // bit for bit
        Offset shortest = 99;
        double neighbours = 0;
        for (Index row = 0; row < matrix.rows; ++row) {
            const RowSum sum = row_sum(matrix, row);
            CHECK(sum.off_diagonal < 0);
            CHECK(sum.largest_off_diagonal < 0);
            CHECK(sum.all() > -1e-14 * sum.diagonal);
            CHECK(matrix.row_length(row) <= 1 + 20);
            const std::array<Index, 3> place{row % n, row / n % n, row / n / n};
            if (std::any_of(place.begin(), place.end(), [](Index along) { return along < 4 || along >= n - 4; })) continue;
            CHECK(std::abs(sum.all()) < 1e-14 * sum.diagonal);
            shortest = std::min(shortest, matrix.row_length(row));
            neighbours += static_cast<double>(matrix.row_length(row) - 1) / std::pow(n - 8, 3);
        }
        CHECK(shortest >= 1 + 4);
        CHECK(neighbours > 11.5);
        CHECK(neighbours < 14.5);
    }
    // Some of these rows exceed the limit before it is applied; with two places per axis, some faces have equal areas.
    for (const double irregularity : {1.0, 0.002}) {
        const CsrMatrix limited =
            made("finite_volume", {{"nx", whole(n)}, {"irregularity", irregularity}, {"smallest_face", 0.0}});
        Offset longest = 0;
        for (Index row = 0; row < limited.rows; ++row) longest = std::max(longest, limited.row_length(row));
        CHECK(longest == 1 + 20);
        CHECK(limited == transpose(limited));
    }
}

TEST_CASE("finite_volume: diffusion is positive definite, and heat flows as on cubes") {
    const Index n = 14;
    const auto warmest = [](const CsrMatrix& matrix) {
        REQUIRE(positive_definite(matrix));
        return solution(matrix, Eigen::VectorXd::Ones(matrix.rows)).maxCoeff();
    };
    const double expected = warmest(made("laplace3d", {{"nx", whole(n)}}));
    CHECK(warmest(made("finite_volume", {{"nx", whole(n)}})) == doctest::Approx(expected).epsilon(0.05));
    CHECK(warmest(made("finite_volume", {{"nx", whole(n)}, {"irregularity", 0.3}})) == doctest::Approx(expected).epsilon(0.01));
}

TEST_CASE("finite_volume: smallest_face removes small faces and changes nothing else") {
    const Given given{{"nx", whole(12)}, {"irregularity", 0.5}};
    const CsrMatrix all = made("finite_volume", with(given, {{"smallest_face", 0.0}}));
    const CsrMatrix some = made("finite_volume", with(given, {{"smallest_face", 0.05}}));
    CHECK(some.nonzeros() < all.nonzeros());
    for (Index row = 0; row < some.rows; ++row) {
        Offset other = all.row_offsets[row];
        for (Offset i = some.row_offsets[row]; i < some.row_offsets[row + 1]; ++i, ++other) {
            while (other < all.row_offsets[row + 1] && all.column_indices[other] < some.column_indices[i]) {
                CHECK(all.values[other++] > -0.05 / 0.4);  // a small area over a distance that is not small
            }
            REQUIRE(other < all.row_offsets[row + 1]);
            REQUIRE(all.column_indices[other] == some.column_indices[i]);
            if (some.column_indices[i] != row) CHECK(all.values[other] == some.values[i]);
        }
    }
}

TEST_CASE("finite_volume: convection is an unsymmetric M-matrix on the pattern of diffusion") {
    const Given given{{"nx", whole(11)}, {"ny", whole(12)}, {"nz", whole(10)}};
    const CsrMatrix diffusion = made("finite_volume", given);
    const CsrMatrix matrix = made("finite_volume", with(given, {{"peclet", 20.0}}));
    CHECK(matrix.row_offsets == diffusion.row_offsets);
    CHECK(matrix.column_indices == diffusion.column_indices);
    const CsrMatrix turned = transpose(matrix);
    int lopsided = 0;
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
            if (matrix.column_indices[i] == row) continue;
            // Upstream weighting: one of each pair equals pure diffusion, the other is larger.
            CHECK(std::max(matrix.values[i], turned.values[i]) == diffusion.values[i]);
            lopsided += matrix.values[i] != turned.values[i] ? 1 : 0;
        }
        const RowSum sum = row_sum(matrix, row);
        CHECK(sum.all() > -1e-14 * sum.diagonal);
    }
    CHECK(static_cast<double>(lopsided) > 0.99 * static_cast<double>(matrix.nonzeros() - matrix.rows));
    // The inverse has no negative entry: a source anywhere raises the solution everywhere.
    Eigen::MatrixXd sources = Eigen::MatrixXd::Zero(matrix.rows, 3);
    for (const auto& [place, source] : {std::pair{0, 0}, {1, 500}, {2, 1319}}) sources(source, place) = 1;
    CHECK(solution(matrix, sources).minCoeff() > -1e-16);
}

TEST_CASE("finite_volume: convection is conservative") {
    // Inflow equals outflow: columns sum to zero if no face was dropped.
    const Index n = 14;
    const CsrMatrix turned =
        transpose(made("finite_volume", {{"nx", whole(n)}, {"irregularity", 0.5}, {"smallest_face", 0.0}, {"peclet", 5.0}}));
    int closed = 0;
    for (Index row = 0; row < turned.rows; ++row) {
        const std::array<Index, 3> place{row % n, row / n % n, row / n / n};
        const auto columns = turned.row_columns(row);
        if (std::any_of(place.begin(), place.end(), [](Index along) { return along < 4 || along >= n - 4; })) continue;
        if (std::any_of(columns.begin(), columns.end(), [&](Index column) { return turned.row_length(column) > 20; })) continue;
        const RowSum sum = row_sum(turned, row);
        CHECK(std::abs(sum.all()) < 1e-13 * sum.diagonal);
        ++closed;
    }
    CHECK(closed > 50);
}

TEST_CASE("finite_volume: numberings permute the matrix without changing a value") {
    const Given given{{"nx", whole(9)}, {"ny", whole(14)}, {"nz", whole(5)}, {"seed", whole(3)}, {"peclet", 1.0}};
    const CsrMatrix natural = made("finite_volume", given);
    const Permutation scrambled = random_permutation(natural.rows, 3);
    const Permutation curve = hilbert_order({9, 14, 5});
    CHECK(made("finite_volume", with(given, {{"numbering", std::string("scrambled")}})) ==
          permute(natural, scrambled, scrambled));
    CHECK(made("finite_volume", with(given, {{"numbering", std::string("hilbert")}})) == permute(natural, curve, curve));
    CHECK(made("finite_volume", with(given, {{"seed", whole(4)}})) != natural);
}

TEST_CASE(
    "consecutive nodes on a Hilbert curve are neighbours, and the curve completes each octant of a cube before the next") {
    for (const Index n : {2, 4, 8, 16}) {
        const Permutation order = hilbert_order({n, n, n});
        const auto place = [&](Index position) {
            const Index node = order.old_of_new(position);
            return std::array<Index, 3>{node % n, node / n % n, node / n / n};
        };
        CHECK(order.old_of_new(0) == 0);
        for (Index i = 1; i < n * n * n; ++i) {
            int steps = 0;
            for (int axis = 0; axis < 3; ++axis) steps += std::abs(place(i)[axis] - place(i - 1)[axis]);
            CHECK(steps == 1);
            for (int axis = 0; axis < 3; ++axis) CHECK(place(i)[axis] / 2 == place(i / 8 * 8)[axis] / 2);
        }
    }
    CHECK(hilbert_order({1, 1, 1}).is_identity());
    const Permutation coarse = hilbert_order({1, (1 << 21) + 1, 1});  // two nodes per place on the curve
    for (Index i = 0; i < 1 << 20; ++i) REQUIRE(coarse.new_of_old(2 * i + 1) == coarse.new_of_old(2 * i) + 1);
}

TEST_CASE("finite_volume: sizes that are too large are refused") {
    CHECK(refusal("finite_volume", {{"nx", whole(1291)}}) ==
          "3 found a grid of 1291 x 1291 x 1291 nodes with 1 unknown each; expected at most 2147483647 rows");
    CHECK(refusal("finite_volume", {{"nx", whole(2147483647)}}).substr(0, 2) == "3 ");
    CHECK(refusal("finite_volume", {{"nx", whole(1290)}}).substr(0, 11) == "4 a matrix ");
    CHECK(made("finite_volume", {{"nx", whole(1)}}).nonzeros() == 1);
}

}  // namespace workbench
