// Random generators: reproducible bits, and the properties of their matrices.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "core/input/inline_matrix.hpp"
#include "core/matrix/permutation.hpp"
#include "core/matrix/random.hpp"
#include "input/generated.hpp"
#include "support/eigen.hpp"

namespace workbench {
namespace {

struct Moments {
    double mean = 0;
    double deviation = 0;
};

Moments moments_of_lengths(const CsrMatrix& matrix) {
    Moments moments;
    for (Index row = 0; row < matrix.rows; ++row) moments.mean += static_cast<double>(matrix.row_length(row)) / matrix.rows;
    for (Index row = 0; row < matrix.rows; ++row) {
        moments.deviation += std::pow(static_cast<double>(matrix.row_length(row)) - moments.mean, 2) / matrix.rows;
    }
    moments.deviation = std::sqrt(moments.deviation);
    return moments;
}

}  // namespace

TEST_CASE("generators have the same bits on every machine") {
    CHECK(hash_of(made("banded", {{"rows", whole(1000)}, {"bandwidth", whole(20)}, {"fill", 0.3}})) == 6760651041634280301U);
    CHECK(hash_of(made("random_uniform", {{"rows", whole(1000)}, {"shortest", whole(0)}, {"longest", whole(30)}})) ==
          7737618361881808705U);
    CHECK(
        hash_of(made("random_normal", {{"rows", whole(1000)}, {"columns", whole(77)}, {"mean", 40.5}, {"deviation", 17.25}})) ==
        17811339999690783987U);
    CHECK(hash_of(made("rmat", {{"scale", whole(10)}, {"degree", whole(8)}})) == 5907790599884203227U);
    CHECK(hash_of(made("delaunay", {{"nx", whole(100)}, {"ny", whole(40)}})) == 13563188087354837603U);
    CHECK(hash_of(made("delaunay", {{"nx", whole(100)}, {"ny", whole(40)}, {"scramble", whole(5)}})) == 3633416146204572580U);
}

TEST_CASE("the places of meshes: neighbours are near each other") {
    struct Mesh {
        std::string name;
        Given given;
        double shortest;
        double longest;
    };
    const std::vector<Mesh> meshes{{"laplace2d", {{"nx", whole(7)}, {"ny", whole(4)}}, 1, 1},
                                   {"laplace2d", {{"nx", whole(7)}, {"scramble", whole(3)}}, 1, 1},
                                   {"laplace3d", {{"nx", whole(4)}, {"ny", whole(5)}, {"scramble", whole(2)}}, 1, 1},
                                   {"elasticity3d", {{"nx", whole(3)}, {"scramble", whole(2)}}, 0, std::sqrt(3.0)},
                                   {"curlcurl3d", {{"nx", whole(3)}, {"scramble", whole(2)}}, 0, std::sqrt(3.0)},
                                   {"delaunay", {{"nx", whole(9)}, {"scramble", whole(2)}}, 0.001, 4},
                                   {"finite_volume", {{"nx", whole(4)}, {"numbering", "scrambled"}}, 0.001, 4},
                                   {"finite_volume", {{"nx", whole(4)}, {"numbering", "hilbert"}}, 0.001, 4}};
    for (const Mesh& mesh : meshes) {
        CAPTURE(mesh.name);
        const CsrMatrix matrix = made(mesh.name, mesh.given);
        const std::vector<NodePlace> places = places_of(mesh.name, mesh.given);
        REQUIRE(places.size() == static_cast<std::size_t>(matrix.rows));
        for (Index row = 0; row < matrix.rows; ++row) {
            for (const Index column : matrix.row_columns(row)) {
                if (row == column) continue;
                const NodePlace& a = places[row];
                const NodePlace& b = places[column];
                const double distance = std::hypot(a.x - b.x, a.y - b.y, a.z - b.z);
                CHECK(distance >= mesh.shortest);
                CHECK(distance <= mesh.longest);
            }
        }
    }
    CHECK(places_of("banded", {{"rows", whole(5)}, {"bandwidth", whole(2)}}).empty());
}

TEST_CASE("different seeds give different matrices") {
    const std::vector<std::pair<std::string, Given>> kinds{
        {"banded", {{"rows", whole(50)}, {"bandwidth", whole(9)}, {"fill", 0.5}}},
        {"random_uniform", {{"rows", whole(50)}, {"shortest", whole(2)}, {"longest", whole(9)}}},
        {"random_normal", {{"rows", whole(50)}, {"mean", 5.0}, {"deviation", 2.0}}},
        {"random_laplacian", {{"rows", whole(50)}, {"degree", whole(6)}}},
        {"rmat", {{"scale", whole(6)}}},
        {"delaunay", {{"nx", whole(9)}}}};
    for (const auto& kind : kinds) {
        const std::string& name = kind.first;
        Given given = kind.second;
        CAPTURE(name);
        given["seed"] = whole(1);
        const CsrMatrix first = made(name, given);
        CHECK(first == made(name, given));
        given["seed"] = whole(2);
        CHECK(first != made(name, given));
    }
}

TEST_CASE("banded: full, exactly; with gaps, symmetric positive definite") {
    CHECK(made("banded", {{"rows", whole(4)}, {"bandwidth", whole(1)}}) ==
          csr_from_rows(std::vector<std::string>{"2 -1 . .", "-1 3 -1 .", ". -1 3 -1", ". . -1 2"}));
    CHECK(made("banded", {{"rows", whole(3)}, {"bandwidth", whole(2147483647)}}) ==
          csr_from_rows(std::vector<std::string>{"3 -1 -1", "-1 3 -1", "-1 -1 3"}));
    const CsrMatrix gaps = made("banded", {{"rows", whole(3000)}, {"bandwidth", whole(25)}, {"fill", 0.2}});
    CHECK(gaps == transpose(gaps));
    CHECK(positive_definite(gaps));
    const double places = 2 * 25 * 3000 - 25 * 26;
    CHECK(static_cast<double>(gaps.nonzeros() - 3000) / places == doctest::Approx(0.2).epsilon(0.02));
    CHECK(made("banded", {{"rows", whole(5)}, {"bandwidth", whole(3)}, {"fill", 0.0}}).nonzeros() == 5);
    CHECK(refusal("banded", {{"rows", whole(2147483647)}, {"bandwidth", whole(2147483647)}, {"fill", 1e-9}}).substr(0, 11) ==
          "4 a matrix ");
}

TEST_CASE("random_uniform: lengths and columns are uniformly distributed") {
    const Index rows = 20'000;
    const CsrMatrix matrix =
        made("random_uniform", {{"rows", whole(rows)}, {"columns", whole(50)}, {"shortest", whole(3)}, {"longest", whole(12)}});
    std::map<Offset, int> lengths;
    for (Index row = 0; row < rows; ++row) ++lengths[matrix.row_length(row)];
    CHECK(lengths.begin()->first == 3);
    CHECK(lengths.rbegin()->first == 12);
    // Five standard deviations of a count.
    for (const auto& [length, count] : lengths) CHECK(std::abs(count - 2000) < 5 * std::sqrt(2000));
    std::vector<int> columns(50);
    for (const Index column : matrix.column_indices) ++columns[column];
    const double expected = static_cast<double>(matrix.nonzeros()) / 50;
    for (const int count : columns) CHECK(std::abs(count - expected) < 5 * std::sqrt(expected));
    CHECK(std::all_of(matrix.values.begin(), matrix.values.end(),
                      [](double v) { return v == std::floor(v) && v >= 1 && v <= 9; }));

    CHECK(made("random_uniform", {{"rows", whole(9)}, {"shortest", whole(9)}, {"longest", whole(9)}}).nonzeros() == 81);
    CHECK(made("random_uniform", {{"rows", whole(9)}, {"shortest", whole(0)}, {"longest", whole(0)}}).nonzeros() == 0);
    CHECK(refusal("random_uniform", {{"rows", whole(9)}, {"shortest", whole(4)}, {"longest", whole(3)}}) ==
          "longest: found 3; expected at least shortest, 4");
    CHECK(
        refusal("random_uniform", {{"rows", whole(9)}, {"columns", whole(5)}, {"shortest", whole(4)}, {"longest", whole(6)}}) ==
        "longest: found 6; expected at most the columns, 5");
}

TEST_CASE("random_normal: mean, deviation and range of the lengths") {
    const Moments wide =
        moments_of_lengths(made("random_normal", {{"rows", whole(20'000)}, {"mean", 50.0}, {"deviation", 10.0}}));
    CHECK(wide.mean == doctest::Approx(50).epsilon(0.01));
    CHECK(wide.deviation == doctest::Approx(std::sqrt(100 + 1.0 / 12)).epsilon(0.03));  // rounding adds 1/12 to the variance
    const CsrMatrix cut =
        made("random_normal", {{"rows", whole(2000)}, {"columns", whole(8)}, {"mean", 4.0}, {"deviation", 100.0}});
    const auto rows_of_length = [&cut](Offset length) {
        int count = 0;
        for (Index row = 0; row < cut.rows; ++row) count += cut.row_length(row) == length ? 1 : 0;
        return count;
    };
    CHECK(rows_of_length(0) > 900);
    CHECK(rows_of_length(8) > 900);
    const CsrMatrix equal = made("random_normal", {{"rows", whole(30)}, {"mean", 7.0}, {"deviation", 0.0}});
    CHECK(moments_of_lengths(equal).deviation < 1e-12);
    CHECK(equal.nonzeros() == 210);
    CHECK(refusal("random_normal", {{"rows", whole(2147483647)}, {"mean", 2e9}, {"deviation", 0.0}}).substr(0, 11) ==
          "4 a matrix ");
}

TEST_CASE("random_laplacian: symmetric, rows sum to 1, edges are spread over all vertices") {
    for (const Index rows : {1, 2, 3, 17, 1000}) {
        const CsrMatrix matrix = made("random_laplacian", {{"rows", whole(rows)}, {"degree", whole(6)}});
        INFO(rows);
        CHECK(matrix.rows == rows);
        CHECK(transpose(matrix) == matrix);
        for (Index row = 0; row < rows; ++row) {
            double sum = 0;
            for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
                const bool diagonal = matrix.column_indices[i] == row;
                if ((matrix.values[i] > 0) != diagonal) CHECK((matrix.values[i] > 0) == diagonal);
                sum += matrix.values[i];
            }
            if (sum != 1) CHECK(sum == 1);
        }
    }
    // 16 edges per vertex, few of which are parallel and half of which lead to the other half of the vertices.
    const CsrMatrix matrix = made("random_laplacian", {{"rows", whole(20'000)}, {"degree", whole(16)}});
    CHECK(matrix.nonzeros() > 16.9 * 20'000);
    CHECK(matrix.nonzeros() <= 17 * 20'000);
    Offset across = 0;
    for (Index row = 0; row < 10'000; ++row) {
        for (const Index column : matrix.row_columns(row)) across += column >= 10'000 ? 1 : 0;
    }
    CHECK(std::abs(static_cast<double>(across) / 80'000 - 1) < 0.02);
    CHECK(made("random_laplacian", {{"rows", whole(50)}, {"degree", whole(4)}, {"seed", whole(2)}}) !=
          made("random_laplacian", {{"rows", whole(50)}, {"degree", whole(4)}}));
    CHECK(made("random_laplacian", {{"rows", whole(3)}, {"degree", whole(0)}}).nonzeros() == 3);
    CHECK(refusal("random_laplacian", {{"rows", whole(5)}, {"degree", whole(3)}}) ==
          "degree: found 3; expected an even number");
}

TEST_CASE("rmat: quarters contain their fractions, and no edge is lost") {
    const CsrMatrix matrix = made("rmat", {{"scale", whole(12)}, {"degree", whole(16)}, {"a", 0.5}, {"b", 0.25}, {"c", 0.15}});
    std::array<double, 4> quarters{};
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
            quarters[2 * (row / 2048) + matrix.column_indices[i] / 2048] += matrix.values[i];
        }
    }
    const double edges = 16 * 4096;
    CHECK(std::accumulate(quarters.begin(), quarters.end(), 0.0) == edges);
    const std::array<double, 4> shares{0.5, 0.25, 0.15, 0.1};
    for (int i = 0; i < 4; ++i) CHECK(std::abs(quarters[i] - shares[i] * edges) < 5 * std::sqrt(shares[i] * edges));
    CHECK(made("rmat", {{"scale", whole(0)}, {"degree", whole(3)}}) == csr_from_rows(std::vector<std::string>{"3"}));
    CHECK(refusal("rmat", {{"scale", whole(4)}, {"a", 0.9}, {"b", 0.2}}).substr(0, 20) == "c: found a + b + c =");
}

TEST_CASE("delaunay: a Laplace operator, which maps linear functions to zero") {
    // More than one tile along both axes.
    const Index nx = 110;
    const Index ny = 100;
    const CsrMatrix matrix = made("delaunay", {{"nx", whole(nx)}, {"ny", whole(ny)}, {"seed", whole(7)}});
    CHECK(matrix.rows == nx * ny);
    CHECK(matrix == transpose(matrix));  // bit for bit
    CHECK(positive_definite(matrix));
    // The nodes that the generator places, one per square.
    const auto node = [](Index x, Index y) {
        const std::uint64_t random =
            random_stream(7, (static_cast<std::uint64_t>(y) << 32) ^ static_cast<std::uint64_t>(x)).next();
        constexpr double squares = 1 << 22;
        return std::array<double, 2>{x + static_cast<double>(random & 0x3FFFFF) / squares,
                                     y + static_cast<double>(random >> 32 & 0x3FFFFF) / squares};
    };
    double neighbours = 0;
    for (Index row = 0; row < matrix.rows; ++row) {
        const Index x = row % nx;
        const Index y = row / nx;
        double sum = 0;
        std::array<double, 2> moved{};
        double diagonal = 0;
        for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
            const Index column = matrix.column_indices[i];
            const double value = matrix.values[i];
            // Only the edges of a Delaunay triangulation all have nonnegative fluxes.
            CHECK((column == row ? value > 0 : value <= 0));
            const auto here = node(column % nx, column / nx);
            for (int axis = 0; axis < 2; ++axis) moved[axis] += value * here[axis];
            sum += value;
            if (column == row) diagonal = value;
        }
        CHECK(sum > -1e-12 * diagonal);
        if (x < 3 || y < 3 || x >= nx - 3 || y >= ny - 3) continue;
        // Interior nodes, which have no Dirichlet neighbour.
        neighbours += static_cast<double>(matrix.row_length(row) - 1) / ((nx - 6) * (ny - 6));
        CHECK(std::abs(sum) < 1e-12 * diagonal);
        CHECK(std::abs(moved[0]) < 1e-9 * diagonal);
        CHECK(std::abs(moved[1]) < 1e-9 * diagonal);
    }
    CHECK(neighbours == doctest::Approx(6).epsilon(0.01));
}

TEST_CASE("delaunay: scrambling permutes the matrix without changing a value") {
    const Given natural{{"nx", whole(20)}, {"ny", whole(11)}};
    Given scrambled = natural;
    scrambled["scramble"] = whole(3);
    const Permutation order = random_permutation(220, 3);
    CHECK(made("delaunay", scrambled) == permute(made("delaunay", natural), order, order));
    CHECK(made("delaunay", {{"nx", whole(1)}}).nonzeros() == 1);
    CHECK(refusal("delaunay", {{"nx", whole(46341)}}) ==
          "3 found a grid of 46341 x 46341 x 1 nodes with 1 unknown each; expected at most 2147483647 rows");
}

}  // namespace workbench
