// Operators on regular grids.

#include <fmt/core.h>
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "pipeline/contract/errors.hpp"
#include "pipeline/input/generator_kinds.hpp"
#include "pipeline/matrix/random.hpp"

namespace workbench {
namespace {

using Nodes = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<Index>>;

/// How a node is coupled with a neighbour, or with itself.
struct Coupling {
    std::array<int, 3> step{};       // in x, y, z: -1, 0 or 1
    std::array<double, 9> values{};  // [unknowns][unknowns]
};

/// The couplings of a node far from the boundary, in the order of its neighbours' natural numbers.
struct Stencil {
    Index unknowns = 1;
    std::vector<Coupling> couplings;
};

/// Nodes of a grid, numbered with x fastest.
struct Grid {
    std::array<std::int64_t, 3> lengths{1, 1, 1};

    [[nodiscard]] std::int64_t nodes() const { return lengths[0] * lengths[1] * lengths[2]; }

    [[nodiscard]] std::array<std::int64_t, 3> place(std::int64_t node) const {
        return {node % lengths[0], node / lengths[0] % lengths[1], node / lengths[0] / lengths[1]};
    }

    /// Does the grid go on from this place by this step?
    [[nodiscard]] bool has(const std::array<std::int64_t, 3>& place, const std::array<int, 3>& step) const {
        for (int axis = 0; axis < 3; ++axis) {
            const std::int64_t moved = place[axis] + step[axis];
            if (moved < 0 || moved >= lengths[axis]) return false;
        }
        return true;
    }

    /// What a step adds to the natural number.
    [[nodiscard]] std::int64_t stride(const std::array<int, 3>& step) const {
        return step[0] + lengths[0] * (step[1] + lengths[1] * step[2]);
    }
};

// Calls visit for the 27 steps to a node's surroundings and itself, in the order of the natural numbering.
template <typename Visit>
void for_each_step(Visit&& visit) {
    for (const int z : {-1, 0, 1}) {
        for (const int y : {-1, 0, 1}) {
            for (const int x : {-1, 0, 1}) visit(std::array<int, 3>{x, y, z});
        }
    }
}

int distance(const std::array<int, 3>& step) { return std::abs(step[0]) + std::abs(step[1]) + std::abs(step[2]); }

/// -1 for each neighbour, their number on the diagonal: 5 points in the plane, 7 or 27 in space.
Stencil laplace_stencil(int points) {
    Stencil stencil;
    for_each_step([&](const std::array<int, 3>& step) {
        const bool neighbour = points == 27 || (distance(step) <= 1 && (points == 7 || step[2] == 0));
        if (neighbour) stencil.couplings.push_back({step, {distance(step) == 0 ? points - 1.0 : -1.0}});
    });
    return stencil;
}

/// Linear elasticity on cubes of edge 1 with trilinear elements. With Lame's constants lambda = mu (Poisson's ratio 1/4),
///   a_ij = lambda int d_i phi d_j psi + mu int d_j phi d_i psi + mu delta_ij int grad phi . grad psi
/// couples the force along i at the node of phi with the displacement along j at the node of psi. The integrals are products of
/// integrals along the axes, over two hat functions that are `step` apart: (1, 4, 1) / 6 of the functions, (-1, 2, -1) of their
/// derivatives, (1, 0, -1) / 2 of the first one's derivative and the second one. With lambda = mu = 36 every a_ij is an
/// integer.
Stencil elasticity_stencil() {
    constexpr std::array<int, 3> six_functions{1, 4, 1};
    constexpr std::array<int, 3> derivatives{-1, 2, -1};
    constexpr std::array<int, 3> two_mixed{1, 0, -1};
    Stencil stencil{3, {}};
    for_each_step([&](const std::array<int, 3>& step) {
        std::array<int, 3> second{};  // 36 int d_i phi d_i psi
        for (int i = 0; i < 3; ++i) {
            second[i] = 1;
            for (int axis = 0; axis < 3; ++axis) second[i] *= (axis == i ? derivatives : six_functions)[step[axis] + 1];
        }
        Coupling coupling{step, {}};
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) {
                const int other = 3 - i - j;
                // Off the diagonal (lambda + mu) / (2 * 2 * 6) = 3; deriving the second function instead turns the sign.
                coupling.values[3 * i + j] =
                    i == j ? 2 * second[i] + second[0] + second[1] + second[2]
                           : -3 * two_mixed[step[i] + 1] * two_mixed[step[j] + 1] * six_functions[step[other] + 1];
            }
        }
        stencil.couplings.push_back(coupling);
    });
    return stencil;
}

/// Nonzeros that the stencil has on the grid: each step is taken from all nodes but those at the end of the grid.
Offset count_nonzeros(const Grid& grid, const Stencil& stencil) {
    Offset nonzeros = 0;
    for (const Coupling& coupling : stencil.couplings) {
        Offset nodes = 1;
        for (int axis = 0; axis < 3; ++axis) nodes *= grid.lengths[axis] - std::abs(coupling.step[axis]);
        nonzeros += nodes * stencil.unknowns * stencil.unknowns;
    }
    return nonzeros;
}

/// No row has more nonzeros: those of all steps that can be taken from some node.
Offset longest_row(const Grid& grid, const Stencil& stencil) {
    const auto is_taken = [&grid](const Coupling& coupling) {
        return std::equal(grid.lengths.begin(), grid.lengths.end(), coupling.step.begin(),
                          [](std::int64_t length, int step) { return length > std::abs(step); });
    };
    return std::count_if(stencil.couplings.begin(), stencil.couplings.end(), is_taken) * stencil.unknowns;
}

void check_rows(const Grid& grid, Index unknowns) {
    constexpr std::int64_t most = std::numeric_limits<Index>::max();
    std::int64_t rows = unknowns;
    for (const std::int64_t length : grid.lengths) {
        if (rows > most / length) {
            throw InputError(fmt::format("found a grid of {} x {} x {} nodes with {} unknown{} each; expected at most {} rows",
                                         grid.lengths[0], grid.lengths[1], grid.lengths[2], unknowns, unknowns == 1 ? "" : "s",
                                         most));
        }
        rows *= length;
    }
}

/// The numbers that the nodes have in the matrix: the natural ones, which take no memory, or scrambled ones.
class Numbering {
public:
    Numbering(Index nodes, std::uint64_t seed) {
        if (seed != 0) scrambled_ = random_permutation(nodes, seed);
    }

    [[nodiscard]] Index natural_of(Index node) const { return scrambled_ ? scrambled_->old_of_new(node) : node; }
    [[nodiscard]] Index of_natural(Index natural) const { return scrambled_ ? scrambled_->new_of_old(natural) : natural; }

private:
    std::optional<Permutation> scrambled_;
};

/// A neighbour of a node, by its number in the matrix.
struct Neighbour {
    Index node;
    const Coupling* coupling;
};

/// The neighbours of a node and the node itself, in ascending order; their number.
Index find_neighbours(const Grid& grid, const Stencil& stencil, const Numbering& numbering, Index node,
                      std::array<Neighbour, 27>& neighbours) {
    const Index natural = numbering.natural_of(node);
    const auto place = grid.place(natural);
    Index count = 0;
    for (const Coupling& coupling : stencil.couplings) {
        if (!grid.has(place, coupling.step)) continue;
        const auto neighbour = static_cast<Index>(natural + grid.stride(coupling.step));
        neighbours[count++] = {numbering.of_natural(neighbour), &coupling};
    }
    std::sort(neighbours.begin(), neighbours.begin() + count,
              [](const Neighbour& a, const Neighbour& b) { return a.node < b.node; });
    return count;
}

class GridOperator {
public:
    /// Seed 0: the natural numbering. Throws InputError where there would be too many rows.
    GridOperator(Grid grid, Stencil stencil, std::uint64_t seed) : grid_(grid), stencil_(std::move(stencil)), seed_(seed) {
        check_rows(grid_, stencil_.unknowns);
    }

    [[nodiscard]] Index row_count() const { return static_cast<Index>(grid_.nodes()) * stencil_.unknowns; }

    [[nodiscard]] CsrMatrix make(RowRange range) const {
        check_memory(range);
        const Numbering numbering(static_cast<Index>(grid_.nodes()), seed_);
        CsrMatrix matrix;
        matrix.rows = range.count();
        matrix.columns = row_count();
        matrix.row_offsets.resize(std::size_t(matrix.rows) + 1);
        Kokkos::parallel_for("count", nodes_of(range), [&](Index node) {
            const auto place = grid_.place(numbering.natural_of(node));
            Offset length = 0;
            for (const Coupling& coupling : stencil_.couplings) {
                length += grid_.has(place, coupling.step) ? stencil_.unknowns : 0;
            }
            const RowRange rows = rows_of(node, range);
            for (Index row = rows.first; row < rows.end; ++row) matrix.row_offsets[row - range.first + 1] = length;
        });
        std::partial_sum(matrix.row_offsets.begin(), matrix.row_offsets.end(), matrix.row_offsets.begin());
        matrix.column_indices.resize(matrix.nonzeros());
        matrix.values.resize(matrix.nonzeros());
        Kokkos::parallel_for("fill", nodes_of(range), [&](Index node) { fill(node, range, numbering, matrix); });
        return matrix;
    }

private:
    /// The nodes that have rows in the range: the first and the last may have others outside.
    [[nodiscard]] Nodes nodes_of(RowRange range) const {
        const Index d = stencil_.unknowns;
        return {range.first / d, range.end / d + (range.end % d > 0 ? 1 : 0)};
    }

    /// Those of its rows that are in the range.
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

    void fill(Index node, RowRange range, const Numbering& numbering, CsrMatrix& matrix) const {
        const Index d = stencil_.unknowns;
        std::array<Neighbour, 27> neighbours{};
        const Index count = find_neighbours(grid_, stencil_, numbering, node, neighbours);
        const RowRange rows = rows_of(node, range);
        for (Index row = rows.first; row < rows.end; ++row) {
            Offset place = matrix.row_offsets[row - range.first];
            for (Index k = 0; k < count; ++k) {
                for (Index j = 0; j < d; ++j, ++place) {
                    matrix.column_indices[place] = neighbours[k].node * d + j;
                    matrix.values[place] = neighbours[k].coupling->values[d * (row % d) + j];
                }
            }
        }
    }

    Grid grid_;
    Stencil stencil_;
    std::uint64_t seed_;
};

ParameterDeclaration points_parameter() {
    ParameterDeclaration declaration;
    declaration.name = "points";
    declaration.default_value = std::int64_t{7};
    declaration.minimum = 7;
    declaration.maximum = 27;
    declaration.help = "points of the stencil, 7 or 27";
    return declaration;
}

Grid grid_of(const Parameters& parameters, int dimensions) {
    const std::int64_t nx = parameters.integer("nx");
    const auto length = [&](const char* name) { return parameters.has(name) ? parameters.integer(name) : nx; };
    return {{nx, length("ny"), dimensions == 3 ? length("nz") : 1}};
}

std::uint64_t seed_of(const Parameters& parameters) { return static_cast<std::uint64_t>(parameters.integer("scramble")); }

GridOperator laplace2d(const Parameters& parameters) {
    return {grid_of(parameters, 2), laplace_stencil(5), seed_of(parameters)};
}

GridOperator laplace3d(const Parameters& parameters) {
    const std::int64_t points = parameters.integer("points");
    if (points != 7 && points != 27) throw ParameterError("points", fmt::format("found {}; expected 7 or 27", points));
    return {grid_of(parameters, 3), laplace_stencil(static_cast<int>(points)), seed_of(parameters)};
}

GridOperator elasticity3d(const Parameters& parameters) {
    return {grid_of(parameters, 3), elasticity_stencil(), seed_of(parameters)};
}

}  // namespace

std::vector<GeneratorEntry> grid_generators() {
    return {
        made_by_rows<laplace2d>("laplace2d", "the Laplace operator on a grid in the plane, 5 points",
                                {grid_length_parameter("nx", true), grid_length_parameter("ny", false), scramble_parameter()}),
        made_by_rows<laplace3d>("laplace3d", "the Laplace operator on a grid in space, 7 or 27 points",
                                {grid_length_parameter("nx", true), grid_length_parameter("ny", false),
                                 grid_length_parameter("nz", false), points_parameter(), scramble_parameter()}),
        made_by_rows<elasticity3d>("elasticity3d",
                                   "linear elasticity on a grid of cubes, trilinear elements, 3 unknowns a node",
                                   {grid_length_parameter("nx", true), grid_length_parameter("ny", false),
                                    grid_length_parameter("nz", false), scramble_parameter()}),
    };
}

}  // namespace workbench
