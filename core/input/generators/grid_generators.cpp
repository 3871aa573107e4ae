// Operators on regular grids.
#include <fmt/core.h>
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <utility>

#include "core/input/generators/generator_kinds.hpp"
#include "core/matrix/random.hpp"

namespace workbench {
namespace {

using Nodes = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<Index>>;

/// The block that couples a node with a neighbour, or with itself.
struct Coupling {
    Grid::Place step{};              // in x, y, z: -1, 0 or 1
    std::array<double, 9> values{};  // [unknowns][unknowns]
};

/// The couplings of an interior node, in the order of its neighbours' natural numbers.
struct Stencil {
    Index unknowns = 1;
    std::vector<Coupling> couplings;
    bool stores_zeros = true;  // of couplings

    [[nodiscard]] bool stores(const Coupling& coupling, Index row, Index column) const {
        return stores_zeros || coupling.values[unknowns * row + column] != 0;
    }
    /// The nonzeros of one row of a coupling.
    [[nodiscard]] Offset nonzeros(const Coupling& coupling, Index row) const {
        Offset count = 0;
        for (Index column = 0; column < unknowns; ++column) count += stores(coupling, row, column) ? 1 : 0;
        return count;
    }
};

/// Calls visit(step) for the 27 steps from a node to its surroundings and itself, in the order of the natural numbering.
template <typename Visit>
void for_each_step(Visit&& visit) {
    for (const int z : {-1, 0, 1}) {
        for (const int y : {-1, 0, 1}) {
            for (const int x : {-1, 0, 1}) visit(Grid::Place{x, y, z});
        }
    }
}

std::int64_t distance(const Grid::Place& step) { return std::abs(step[0]) + std::abs(step[1]) + std::abs(step[2]); }

/// -1 for each neighbour, the number of neighbours on the diagonal: 5 points in the plane, 7 or 27 in space.
Stencil laplace_stencil(int points) {
    Stencil stencil;
    for_each_step([&](const Grid::Place& step) {
        const bool neighbour = points == 27 || (distance(step) <= 1 && (points == 7 || step[2] == 0));
        if (neighbour) stencil.couplings.push_back({step, {distance(step) == 0 ? points - 1.0 : -1.0}});
    });
    return stencil;
}

/// Linear elasticity on cubes of edge 1 with trilinear elements. With Lame's constants lambda = mu (Poisson's ratio 1/4),
///   a_ij = lambda int d_i phi d_j psi + mu int d_j phi d_i psi + mu delta_ij int grad phi . grad psi
/// couples the force along i at the node of phi with the displacement along j at the node of psi. Each integral is a product of
/// integrals along the axes, over two hat functions that are `step` apart: (1, 4, 1) / 6 for the product of the functions,
/// (-1, 2, -1) for the product of their derivatives, (1, 0, -1) / 2 for the derivative of the first times the second. With
/// lambda = mu = 36 every a_ij is an integer.
Stencil elasticity_stencil() {
    constexpr std::array<int, 3> six_functions{1, 4, 1};
    constexpr std::array<int, 3> derivatives{-1, 2, -1};
    constexpr std::array<int, 3> two_mixed{1, 0, -1};
    Stencil stencil{3, {}};
    for_each_step([&](const Grid::Place& step) {
        std::array<int, 3> second{};  // 36 int d_i phi d_i psi
        for (int i = 0; i < 3; ++i) {
            second[i] = 1;
            for (int axis = 0; axis < 3; ++axis) second[i] *= (axis == i ? derivatives : six_functions)[step[axis] + 1];
        }
        Coupling coupling{step, {}};
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) {
                const int other = 3 - i - j;
                // The factor is (lambda + mu) / (2 * 2 * 6) = 3; swapping the derivatives changes the sign.
                coupling.values[3 * i + j] =
                    i == j ? 2 * second[i] + second[0] + second[1] + second[2]
                           : -3 * two_mixed[step[i] + 1] * two_mixed[step[j] + 1] * six_functions[step[other] + 1];
            }
        }
        stencil.couplings.push_back(coupling);
    });
    return stencil;
}

/// curl curl u + u on cubes of edge 1 with edge elements of lowest order: the unknowns of a node are the tangential components
/// on the edges to the next nodes in x, y and z. The function of an x edge is constant along x within its cubes, and a hat in y
/// and in z. Its curl is (0, d_z, -d_y) of the product of these hats, and those of the others follow by cyclic shift. Integrals
/// are products along the axes as above; that of a hat's derivative over a cube from node q is -1 for the hat at q and 1 for
/// the hat at q + 1. All values are multiplied by 36 and thus integers. Source: Nedelec, "Mixed finite elements in R^3",
/// Numerische Mathematik 35 (1980).
Stencil curl_curl_stencil() {
    constexpr std::array<int, 3> six_functions{1, 4, 1};
    constexpr std::array<int, 3> derivatives{-1, 2, -1};
    Stencil stencil{3, {}, false};
    for_each_step([&](const Grid::Place& step) {
        Coupling coupling{step, {}};
        for (int i = 0; i < 3; ++i) {
            const int j = (i + 1) % 3;
            const int k = (i + 2) % 3;
            const int functions_of_j = six_functions[step[j] + 1];
            const int functions_of_k = six_functions[step[k] + 1];
            if (step[i] == 0) {
                coupling.values[4 * i] = 6 * derivatives[step[j] + 1] * functions_of_k +
                                         6 * functions_of_j * derivatives[step[k] + 1] + functions_of_j * functions_of_k;
            }
            // Edge i of this node and edge j of the other one: the other's hat along i, this one's along j.
            const auto slopes = [&](int along_own, int along_other) {
                if (step[along_own] < 0 || step[along_other] > 0) return 0;
                return (step[along_own] == 0 ? -1 : 1) * (step[along_other] == 0 ? -1 : 1);
            };
            coupling.values[3 * i + j] = -6 * slopes(i, j) * functions_of_k;
            coupling.values[3 * j + i] = -6 * slopes(j, i) * functions_of_k;
        }
        stencil.couplings.push_back(coupling);
    });
    return stencil;
}

/// Nonzeros of the whole matrix: a step exists for every node except those at the end of the grid.
Offset count_nonzeros(const Grid& grid, const Stencil& stencil) {
    Offset nonzeros = 0;
    for (const Coupling& coupling : stencil.couplings) {
        Offset nodes = 1;
        for (int axis = 0; axis < 3; ++axis) nodes *= grid.lengths[axis] - std::abs(coupling.step[axis]);
        for (Index row = 0; row < stencil.unknowns; ++row) nonzeros += nodes * stencil.nonzeros(coupling, row);
    }
    return nonzeros;
}

/// Upper bound of the nonzeros in a row: every step that fits into the grid somewhere.
Offset longest_row(const Grid& grid, const Stencil& stencil) {
    const auto is_taken = [&grid](const Coupling& coupling) {
        return std::equal(grid.lengths.begin(), grid.lengths.end(), coupling.step.begin(),
                          [](std::int64_t length, std::int64_t step) { return length > std::abs(step); });
    };
    return std::count_if(stencil.couplings.begin(), stencil.couplings.end(), is_taken) * stencil.unknowns;
}

/// Maps natural node numbers to those in the matrix and back. The natural numbering takes no memory.
class NodeNumbering {
public:
    NodeNumbering(Index nodes, std::uint64_t seed) {
        if (seed != 0) scrambled_ = random_permutation(nodes, seed);
    }

    [[nodiscard]] Index natural_of(Index node) const { return scrambled_ ? scrambled_->old_of_new(node) : node; }
    [[nodiscard]] Index of_natural(Index natural) const { return scrambled_ ? scrambled_->new_of_old(natural) : natural; }

private:
    std::optional<Permutation> scrambled_;
};

struct StencilNeighbour {
    Index node;  // number in the matrix
    const Coupling* coupling;
};

/// Stores the neighbours of a node and the node itself in ascending order. Returns how many there are.
Index find_neighbours(const Grid& grid, const Stencil& stencil, const NodeNumbering& numbering, Index node,
                      std::array<StencilNeighbour, 27>& neighbours) {
    const Index natural = numbering.natural_of(node);
    const auto place = grid.place(natural);
    Index count = 0;
    for (const Coupling& coupling : stencil.couplings) {
        if (!grid.has(place + coupling.step)) continue;
        const auto neighbour = static_cast<Index>(natural + grid.number(coupling.step));
        neighbours[count++] = {numbering.of_natural(neighbour), &coupling};
    }
    std::sort(neighbours.begin(), neighbours.begin() + count,
              [](const StencilNeighbour& a, const StencilNeighbour& b) { return a.node < b.node; });
    return count;
}

class GridOperator {
public:
    GridOperator(const Parameters& parameters, int dimensions, Stencil stencil)
        : grid_(grid_of(parameters, dimensions, stencil.unknowns)),
          stencil_(std::move(stencil)),
          seed_(static_cast<std::uint64_t>(parameters.integer("scramble"))) {}

    [[nodiscard]] Index row_count() const { return static_cast<Index>(grid_.nodes()) * stencil_.unknowns; }

    [[nodiscard]] CsrMatrix make(RowRange range) const {
        check_memory(range);
        const NodeNumbering numbering(static_cast<Index>(grid_.nodes()), seed_);
        CsrMatrix matrix;
        matrix.rows = range.count();
        matrix.columns = row_count();
        matrix.row_offsets.resize(std::size_t(matrix.rows) + 1);
        Kokkos::parallel_for("count", nodes_of(range), [&](Index node) {
            const auto place = grid_.place(numbering.natural_of(node));
            const RowRange rows = rows_of(node, range);
            for (const Coupling& coupling : stencil_.couplings) {
                if (!grid_.has(place + coupling.step)) continue;
                for (Index row = rows.first; row < rows.end; ++row) {
                    matrix.row_offsets[row - range.first + 1] += stencil_.nonzeros(coupling, row % stencil_.unknowns);
                }
            }
        });
        std::partial_sum(matrix.row_offsets.begin(), matrix.row_offsets.end(), matrix.row_offsets.begin());
        matrix.column_indices.resize(matrix.nonzeros());
        matrix.values.resize(matrix.nonzeros());
        Kokkos::parallel_for("fill", nodes_of(range), [&](Index node) { fill(node, range, numbering, matrix); });
        return matrix;
    }

    [[nodiscard]] std::vector<NodePlace> places() const {
        const NodeNumbering numbering(static_cast<Index>(grid_.nodes()), seed_);
        std::vector<NodePlace> all(row_count());
        for (std::size_t row = 0; row < all.size(); ++row) {
            const auto [x, y, z] = grid_.place(numbering.natural_of(static_cast<Index>(row) / stencil_.unknowns));
            all[row] = {static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)};
        }
        return all;
    }

private:
    /// The nodes with rows in the range; the first and the last may also have rows outside.
    [[nodiscard]] Nodes nodes_of(RowRange range) const {
        const Index d = stencil_.unknowns;
        return {range.first / d, range.end / d + (range.end % d > 0 ? 1 : 0)};
    }

    /// The rows of the node that are in the range.
    [[nodiscard]] RowRange rows_of(Index node, RowRange range) const {
        const Index first = node * stencil_.unknowns;
        return {std::max(first, range.first), first + std::min(stencil_.unknowns, range.end - first)};
    }

    void check_memory(RowRange range) const {
        const double rows = range.count();
        const double nonzeros = std::min(rows * static_cast<double>(longest_row(grid_, stencil_)),
                                         static_cast<double>(count_nonzeros(grid_, stencil_)));
        check_generator_memory(rows, nonzeros, seed_ == 0 ? 0 : static_cast<double>(grid_.nodes()) * 2 * sizeof(Index));
    }

    void fill(Index node, RowRange range, const NodeNumbering& numbering, CsrMatrix& matrix) const {
        const Index d = stencil_.unknowns;
        std::array<StencilNeighbour, 27> neighbours{};
        const Index count = find_neighbours(grid_, stencil_, numbering, node, neighbours);
        const RowRange rows = rows_of(node, range);
        for (Index row = rows.first; row < rows.end; ++row) {
            Offset place = matrix.row_offsets[row - range.first];
            for (Index k = 0; k < count; ++k) {
                for (Index j = 0; j < d; ++j) {
                    if (!stencil_.stores(*neighbours[k].coupling, row % d, j)) continue;
                    matrix.column_indices[place] = neighbours[k].node * d + j;
                    matrix.values[place++] = neighbours[k].coupling->values[d * (row % d) + j];
                }
            }
        }
    }

    Grid grid_;
    Stencil stencil_;
    std::uint64_t seed_;  // 0: natural numbering
};

GridOperator laplace2d(const Parameters& parameters) { return {parameters, 2, laplace_stencil(5)}; }

GridOperator laplace3d(const Parameters& parameters) {
    const std::int64_t points = parameters.integer("points");
    if (points != 7 && points != 27) throw ParameterError("points", fmt::format("found {}; expected 7 or 27", points));
    return {parameters, 3, laplace_stencil(static_cast<int>(points))};
}

GridOperator elasticity3d(const Parameters& parameters) { return {parameters, 3, elasticity_stencil()}; }

GridOperator curlcurl3d(const Parameters& parameters) { return {parameters, 3, curl_curl_stencil()}; }

}  // namespace

std::vector<GeneratorEntry> grid_generators() {
    const ParameterDeclaration points = integer_parameter("points", 7, 27, "points of the stencil, 7 or 27", 7);
    return {
        made_by_rows<laplace2d>("laplace2d", "the Laplace operator on a grid in the plane, 5 points",
                                grid_parameters(2, {scramble_parameter()})),
        made_by_rows<laplace3d>("laplace3d", "the Laplace operator on a grid in space, 7 or 27 points",
                                grid_parameters(3, {points, scramble_parameter()})),
        made_by_rows<elasticity3d>("elasticity3d",
                                   "linear elasticity on a grid of cubes, trilinear elements, 3 unknowns per node",
                                   grid_parameters(3, {scramble_parameter()})),
        made_by_rows<curlcurl3d>("curlcurl3d", "curl curl u + u on a grid of cubes, edge elements, 3 edges per node",
                                 grid_parameters(3, {scramble_parameter()})),
    };
}

}  // namespace workbench
