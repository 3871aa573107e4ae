// Numbers, inline matrices and generators. The readers of files are tested in tests/input.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <numeric>

#include "core/contract/catalogue.hpp"
#include "core/contract/errors.hpp"
#include "core/input/generators/generators.hpp"
#include "core/input/inline_matrix.hpp"
#include "core/matrix/permutation.hpp"
#include "core/text/words.hpp"
#include "support/eigen.hpp"

namespace workbench {
namespace {

using Rows = std::vector<std::string>;

const Catalogue& known() {
    static const Catalogue all{.generators = generators()};
    return all;
}

CsrMatrix generate(const std::string& name, const std::map<std::string, std::int64_t>& given) {
    const GeneratorEntry* generator = known().find_generator(name);
    REQUIRE(generator != nullptr);
    return generator->generate(Parameters(generator->parameters, {given.begin(), given.end()}));
}

double largest_difference(const CsrMatrix& matrix, const Eigen::MatrixXd& expected) {
    if (matrix.rows != expected.rows() || matrix.columns != expected.cols()) return std::numeric_limits<double>::infinity();
    return (Eigen::MatrixXd(to_eigen(matrix)) - expected).cwiseAbs().maxCoeff();
}

}  // namespace

TEST_CASE("numbers are read whole or not at all") {
    CHECK(parse_integer("42") == 42);
    CHECK(parse_integer("+42") == 42);
    CHECK(parse_integer("-9223372036854775808") == std::numeric_limits<std::int64_t>::min());
    for (const char* word : {"", "+", "-", "+-1", "++1", "1.0", "1x", "9223372036854775808", "0x10"}) {
        CAPTURE(word);
        CHECK_FALSE(parse_integer(word));
    }
    CHECK(parse_real("1.5e3") == 1500);
    CHECK(parse_real("+.5") == 0.5);
    CHECK(parse_real("-1.") == -1);
    CHECK(parse_real("1E+05") == 1e5);
    CHECK(parse_real("4.9e-324") == std::numeric_limits<double>::denorm_min());
    CHECK(parse_real("0.1") == 0.1);
    CHECK(parse_real("1e-400") == 0);
    CHECK(parse_real("-Inf") == -std::numeric_limits<double>::infinity());
    CHECK(std::isnan(parse_real("NaN").value()));
    for (const char* word : {"", "+", "+-1", "1e", "0x10", "1,5", "1.5.2", "1e400", "-1e400", "four", "1d5", "1_000"}) {
        CAPTURE(word);
        CHECK_FALSE(parse_real(word));
    }
    CHECK(why_not_real("1e400") == "found '1e400', which is beyond the range of f64; expected a smaller number");
    CHECK(why_not_real("1D5") == "found '1D5', a number with a Fortran exponent; expected an exponent with 'e'");
    CHECK(why_not_real("4,5") == "found '4,5', with a comma; expected a number with a decimal point");
    CHECK(why_not_real("four") == "found 'four'; expected a number");
    CHECK(in_quotes("a\tb\x80") == "'a?b?'");
    CHECK(in_quotes(std::string(41, 'x')) == "'" + std::string(40, 'x') + "...'");
}

TEST_CASE("an inline matrix: a dot is no entry, a zero is an entry") {
    const CsrMatrix matrix = csr_from_rows(Rows{" 1 . -2.5", ".\t0 ."});
    CHECK(matrix.rows == 2);
    CHECK(matrix.columns == 3);
    CHECK(matrix.row_offsets == std::vector<Offset>{0, 2, 3});
    CHECK(matrix.column_indices == std::vector<Index>{0, 2, 1});
    CHECK(matrix.values == std::vector<double>{1, -2.5, 0});
    CHECK(csr_from_rows(Rows{}) == CsrMatrix{});
    CHECK(csr_from_rows(Rows{"", ""}).rows == 2);

    const auto refused = [](const Rows& rows, std::size_t row, std::size_t character, const std::string& what) {
        try {
            const CsrMatrix none = csr_from_rows(rows);
            FAIL("not refused");
        } catch (const InlineMatrixError& error) {
            CHECK(error.row == row);
            CHECK(error.character == character);
            CHECK(std::string(error.what()) == what);
        }
    };
    refused({"1 2", "3 x4"}, 1, 2, "row 2, column 2: found 'x4'; expected a number or '.'");
    refused({"1 2", "3 4 5"}, 1, 5, "row 2: found 3 columns; expected 2, as in row 1");
    refused({"1 2", ""}, 1, 0, "row 2: found 0 columns; expected 2, as in row 1");
}

TEST_CASE("laplace2d, exactly") {
    CHECK(generate("laplace2d", {{"nx", 3}, {"ny", 2}}) == csr_from_rows(Rows{"4 -1 . -1 . .",   //
                                                                              "-1 4 -1 . -1 .",  //
                                                                              ". -1 4 . . -1",   //
                                                                              "-1 . . 4 -1 .",   //
                                                                              ". -1 . -1 4 -1",  //
                                                                              ". . -1 . -1 4"}));
    CHECK(generate("laplace2d", {{"nx", 5}}).rows == 25);
    CHECK(generate("laplace2d", {{"nx", 1}}) == csr_from_rows(Rows{"4"}));
}

TEST_CASE("laplace3d has -1 for each neighbour and their number on the diagonal") {
    const int nx = 4;
    const int ny = 3;
    const int nz = 5;
    for (const int points : {7, 27}) {
        Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(nx * ny * nz, nx * ny * nz);
        for (int i = 0; i < nx * ny * nz; ++i) {
            for (int j = 0; j < nx * ny * nz; ++j) {
                const int dx = std::abs(i % nx - j % nx);
                const int dy = std::abs(i / nx % ny - j / nx % ny);
                const int dz = std::abs(i / nx / ny - j / nx / ny);
                const bool near = points == 7 ? dx + dy + dz <= 1 : std::max({dx, dy, dz}) <= 1;
                if (near) expected(i, j) = i == j ? points - 1 : -1;
            }
        }
        const CsrMatrix matrix = generate("laplace3d", {{"nx", nx}, {"ny", ny}, {"nz", nz}, {"points", points}});
        check_csr(matrix);
        CHECK(largest_difference(matrix, expected) == 0);
        CHECK(matrix.nonzeros() == (expected.array() != 0).count());
    }
    CHECK_THROWS_AS((void)generate("laplace3d", {{"nx", 3}, {"points", 9}}), ParameterError);
}

// Stiffness matrix of one cube by Gauss quadrature, exact for trilinear functions; node = x + 2 y + 4 z.
static Eigen::Matrix<double, 24, 24> cube_stiffness(double lambda, double mu) {
    Eigen::Matrix<double, 24, 24> stiffness = Eigen::Matrix<double, 24, 24>::Zero();
    const std::array<double, 2> points{0.5 - std::sqrt(1.0 / 12), 0.5 + std::sqrt(1.0 / 12)};
    for (int q = 0; q < 8; ++q) {
        const std::array<double, 3> place{points[q & 1], points[q >> 1 & 1], points[q >> 2 & 1]};
        Eigen::Matrix<double, 6, 24> strain = Eigen::Matrix<double, 6, 24>::Zero();
        for (int node = 0; node < 8; ++node) {
            std::array<double, 3> gradient{1, 1, 1};
            for (int d = 0; d < 3; ++d) {
                for (int axis = 0; axis < 3; ++axis) {
                    const bool upper = (node >> axis & 1) == 1;
                    gradient[d] *= axis == d ? (upper ? 1.0 : -1.0) : (upper ? place[axis] : 1 - place[axis]);
                }
            }
            for (int d = 0; d < 3; ++d) {
                const int e = (d + 1) % 3;
                strain(d, 3 * node + d) = gradient[d];
                strain(3 + d, 3 * node + d) = gradient[e];  // engineering shear of d and e
                strain(3 + d, 3 * node + e) = gradient[d];
            }
        }
        Eigen::Matrix<double, 6, 6> material = Eigen::Matrix<double, 6, 6>::Zero();
        material.topLeftCorner<3, 3>().setConstant(lambda);
        for (int d = 0; d < 3; ++d) material(d, d) += 2 * mu;
        for (int d = 3; d < 6; ++d) material(d, d) = mu;
        stiffness += strain.transpose() * material * strain / 8;
    }
    return stiffness;
}

TEST_CASE("elasticity3d equals the assembly of trilinear cubes") {
    // The grid and the Dirichlet nodes around it, which are eliminated.
    const int nx = 3;
    const int ny = 2;
    const int nz = 4;
    const auto cube = cube_stiffness(36, 36);
    Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(3 * nx * ny * nz, 3 * nx * ny * nz);
    const auto number = [&](int x, int y, int z) {
        const bool free = x >= 0 && x < nx && y >= 0 && y < ny && z >= 0 && z < nz;
        return free ? x + nx * (y + ny * z) : -1;
    };
    for (int e = 0; e < (nx + 1) * (ny + 1) * (nz + 1); ++e) {
        const int x = e % (nx + 1) - 1;
        const int y = e / (nx + 1) % (ny + 1) - 1;
        const int z = e / (nx + 1) / (ny + 1) - 1;
        for (int a = 0; a < 8; ++a) {
            for (int b = 0; b < 8; ++b) {
                const int row = number(x + (a & 1), y + (a >> 1 & 1), z + (a >> 2));
                const int column = number(x + (b & 1), y + (b >> 1 & 1), z + (b >> 2));
                if (row >= 0 && column >= 0) expected.block<3, 3>(3 * row, 3 * column) += cube.block<3, 3>(3 * a, 3 * b);
            }
        }
    }
    const CsrMatrix matrix = generate("elasticity3d", {{"nx", nx}, {"ny", ny}, {"nz", nz}});
    check_csr(matrix);
    CHECK(largest_difference(matrix, expected) < 1e-11);
    CHECK(std::all_of(matrix.values.begin(), matrix.values.end(), [](double v) { return v == std::round(v) && v <= 160; }));
    CHECK(matrix == transpose(matrix));
    CHECK(matrix.nonzeros() == 9 * 7 * 4 * 10);  // (3 nx - 2) (3 ny - 2) (3 nz - 2) blocks

    const CsrMatrix whole = generate("elasticity3d", {{"nx", 5}});
    CHECK(positive_definite(whole));
    const Index middle = 3 * (2 + 5 * (2 + 5 * 2));
    CHECK(whole.row_length(middle) == 81);
    CHECK(std::accumulate(whole.values.begin() + whole.row_offsets[middle],
                          whole.values.begin() + whole.row_offsets[middle + 1],
                          0.0) == 0);  // a rigid translation causes no force
}

// curl curl + identity of the 12 edges of one cube by Gauss quadrature. Edge 4 d + a + 2 b lies along axis d; its coordinate
// is a on the next axis and b on the one after that.
static Eigen::Matrix<double, 12, 12> cube_of_edges() {
    Eigen::Matrix<double, 12, 12> matrix = Eigen::Matrix<double, 12, 12>::Zero();
    const std::array<double, 2> points{0.5 - std::sqrt(1.0 / 12), 0.5 + std::sqrt(1.0 / 12)};
    for (int q = 0; q < 8; ++q) {
        const std::array<double, 3> place{points[q & 1], points[q >> 1 & 1], points[q >> 2 & 1]};
        Eigen::Matrix<double, 3, 12> function = Eigen::Matrix<double, 3, 12>::Zero();
        Eigen::Matrix<double, 3, 12> curl = Eigen::Matrix<double, 3, 12>::Zero();
        for (int edge = 0; edge < 12; ++edge) {
            const int d = edge / 4;
            const int e = (d + 1) % 3;
            const int f = (d + 2) % 3;
            const bool a = (edge & 1) == 1;
            const bool b = (edge >> 1 & 1) == 1;
            const double along_e = a ? place[e] : 1 - place[e];
            const double along_f = b ? place[f] : 1 - place[f];
            function(d, edge) = along_e * along_f;
            curl(e, edge) = along_e * (b ? 1 : -1);
            curl(f, edge) = -(a ? 1 : -1) * along_f;
        }
        matrix += (function.transpose() * function + curl.transpose() * curl) / 8;
    }
    return matrix;
}

TEST_CASE("curlcurl3d equals the assembly of edge elements on cubes") {
    const std::array<int, 3> sides{3, 2, 4};
    const auto cube = cube_of_edges();
    const int edges = 3 * sides[0] * sides[1] * sides[2];
    Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(edges, edges);
    // The edges of nodes outside of the grid are eliminated.
    const auto number = [&](std::array<int, 3> node, int edge) {
        const int d = edge / 4;
        node[(d + 1) % 3] += edge & 1;
        node[(d + 2) % 3] += edge >> 1 & 1;
        for (int axis = 0; axis < 3; ++axis) {
            if (node[axis] < 0 || node[axis] >= sides[axis]) return -1;
        }
        return 3 * (node[0] + sides[0] * (node[1] + sides[1] * node[2])) + d;
    };
    for (int z = -1; z < sides[2]; ++z) {
        for (int y = -1; y < sides[1]; ++y) {
            for (int x = -1; x < sides[0]; ++x) {
                for (int i = 0; i < 144; ++i) {
                    const int row = number({x, y, z}, i / 12);
                    const int column = number({x, y, z}, i % 12);
                    if (row >= 0 && column >= 0) expected(row, column) += 36 * cube(i / 12, i % 12);
                }
            }
        }
    }
    const CsrMatrix matrix = generate("curlcurl3d", {{"nx", sides[0]}, {"ny", sides[1]}, {"nz", sides[2]}});
    check_csr(matrix);
    CHECK(largest_difference(matrix, expected) < 1e-11);
    CHECK(matrix.nonzeros() == (expected.array().abs() > 1e-9).count());
    CHECK(matrix == transpose(matrix));
    const CsrMatrix whole = generate("curlcurl3d", {{"nx", 5}});
    CHECK(whole.row_length(3 * (2 + 5 * (2 + 5 * 2))) == 33);
    CHECK(positive_definite(whole));
}

// The nodes of a path graph with d unknowns per node, in order from the end with the lower number.
static std::vector<Index> nodes_along_path(const CsrMatrix& matrix, Index d) {
    const Index nodes = matrix.rows / d;
    const auto neighbours = [&](Index node) {
        std::vector<Index> result;
        for (const Index column : matrix.row_columns(node * d)) {
            if (column % d == 0 && column / d != node) result.push_back(column / d);
        }
        return result;
    };
    std::vector<Index> path;
    for (Index node = 0; node < nodes && path.empty(); ++node) {
        if (neighbours(node).size() == 1) path.push_back(node);
    }
    REQUIRE(!path.empty());
    while (static_cast<Index>(path.size()) < nodes) {
        const auto next = neighbours(path.back());
        path.push_back(path.size() == 1 || next[0] != path[path.size() - 2] ? next[0] : next[1]);
    }
    return path;
}

TEST_CASE("scrambling renumbers whole nodes, rows and columns alike") {
    for (const std::string name : {"laplace2d", "laplace3d", "elasticity3d"}) {
        CAPTURE(name);
        const Index d = name == "elasticity3d" ? 3 : 1;
        std::map<std::string, std::int64_t> given{{"nx", 40}, {"ny", 1}};
        if (name != "laplace2d") given["nz"] = 1;
        const CsrMatrix natural = generate(name, given);
        given["scramble"] = 7;
        const CsrMatrix scrambled = generate(name, given);
        check_csr(scrambled);
        CHECK(scrambled != natural);
        // Node k of the path is now number path[k]; following the path from its other end gives the same matrix.
        const std::vector<Index> path = nodes_along_path(scrambled, d);
        std::vector<Index> new_of_old(natural.rows);
        for (Index row = 0; row < natural.rows; ++row) new_of_old[row] = path[row / d] * d + row % d;
        const Permutation order = Permutation::from_new_of_old(new_of_old);
        CHECK(scrambled == permute(natural, order, order));
        CHECK(generate(name, given) == scrambled);
        given["scramble"] = 8;
        CHECK(generate(name, given) != scrambled);
    }
    // The random order is the same on every machine.
    CHECK(nodes_along_path(generate("laplace2d", {{"nx", 8}, {"ny", 1}, {"scramble", 1}}), 1) ==
          std::vector<Index>{3, 5, 4, 0, 1, 2, 7, 6});
    const CsrMatrix grid = generate("elasticity3d", {{"nx", 4}, {"ny", 5}, {"nz", 3}, {"scramble", 3}});
    check_csr(grid);
    CHECK(grid == transpose(grid));
    CHECK(positive_definite(grid));
}

TEST_CASE("generators refuse what does not fit") {
    const auto refusal_to_generate = [](const std::string& name, std::int64_t nx) -> std::string {
        try {
            const CsrMatrix matrix = generate(name, {{"nx", nx}});
            return "generated";
        } catch (const UserError& error) {
            return fmt::format("{} {}", static_cast<int>(error.exit_code), error.what());
        }
    };
    CHECK(refusal_to_generate("laplace2d", 46341) ==
          "3 found a grid of 46341 x 46341 x 1 nodes with 1 unknown each; expected at most 2147483647 rows");
    CHECK(
        refusal_to_generate("elasticity3d", 2147483647) ==
        "3 found a grid of 2147483647 x 2147483647 x 2147483647 nodes with 3 unknowns each; expected at most 2147483647 rows");
    CHECK(refusal_to_generate("elasticity3d", 890).substr(0, 78) ==
          "4 a matrix of 2114907000 rows and 170922794688 nonzeros needs 2067992792256 by");
    for (const GeneratorEntry& generator : known().generators) {
        CHECK(known().find_generator(generator.name) == &generator);
        CHECK(!generator.summary.empty());
    }
    CHECK(known().find_generator("laplace4d") == nullptr);
}

}  // namespace workbench
