// Diffusion and convection by finite volumes on polyhedral cells in space.
//
// One node lies at a random place in each cube of an infinite lattice. The nodes of nx x ny x nz cubes are the unknowns; all
// others have Dirichlet values and are eliminated. The cells are the Voronoi cells of the nodes. The diffusive flux between two
// cells is the area of their common face over the distance of their nodes; convection carries the value of the upstream cell.
// Source: Eymard, Gallouet, Herbin, "Finite volume methods" (2000), section 9.2: Voronoi meshes, two-point fluxes, upstream
// weighting.
//
// Cells are cut independently and in parallel, and the decision which cells touch is exact (voronoi_cell.hpp). A face is
// measured once, from the cell with the lower number, so that both cells have the same flux to the bit.
#include <fmt/core.h>
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/input/generators/generator_kinds.hpp"
#include "core/input/generators/hilbert_order.hpp"
#include "core/input/generators/voronoi_cell.hpp"
#include "core/matrix/guarded_loop.hpp"
#include "core/matrix/random.hpp"

namespace workbench {
namespace {

using Host = Kokkos::DefaultHostExecutionSpace;
using Blocks = Kokkos::RangePolicy<Host, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<Offset>>;
using CellRange = Kokkos::RangePolicy<Host, Kokkos::IndexType<Index>>;
using Cube = Grid::Place;

constexpr std::int64_t node_rim = 4;  // cubes farther away contain no node within farthest_square
constexpr Index block_cells = 4096;
constexpr Offset most_neighbours = 20;

struct LatticeStep {
    Cube step;
    std::int64_t least_square;  // lower bound of the squared distance of two nodes in these cubes, in coordinates
};

/// All steps to cubes whose nodes may share a face, nearest first.
std::vector<LatticeStep> steps_around() {
    std::vector<LatticeStep> steps;
    for (std::int64_t z = -node_rim; z <= node_rim; ++z) {
        for (std::int64_t y = -node_rim; y <= node_rim; ++y) {
            for (std::int64_t x = -node_rim; x <= node_rim; ++x) {
                const auto gap = [](std::int64_t step) { return std::max(std::abs(step) - 1, std::int64_t{0}) * lattice_edge; };
                const std::int64_t least_square = square_of({gap(x), gap(y), gap(z)});
                if ((x != 0 || y != 0 || z != 0) && least_square <= farthest_square) steps.push_back({{x, y, z}, least_square});
            }
        }
    }
    std::stable_sort(steps.begin(), steps.end(), [](const LatticeStep& a, const LatticeStep& b) {
        return std::pair(a.least_square, square_of(a.step)) < std::pair(b.least_square, square_of(b.step));
    });
    return steps;
}

struct Mesh {
    Grid grid;
    std::uint64_t seed;
    std::int64_t spread;   // of a node in its cube, in coordinates
    double smallest_face;  // area, in squared edges

    /// The node of a cube at most `node_rim` cubes away from the unknowns, with ten random bits per axis.
    [[nodiscard]] LatticeVector node(const Cube& cube) const {
        const Grid with_rim{grid.lengths + Cube{2 * node_rim, 2 * node_rim, 2 * node_rim}};
        const auto number = static_cast<std::uint64_t>(with_rim.number(cube + Cube{node_rim, node_rim, node_rim}));
        const std::uint64_t random = random_stream(seed, number).next();
        LatticeVector node{};
        for (int axis = 0; axis < 3; ++axis) {
            const auto drawn = static_cast<std::int64_t>(random >> (20 * axis) & (lattice_edge - 1));
            const std::int64_t off_centre = ((drawn - lattice_edge / 2) * spread) >> 10;  // rounded down
            node[axis] = cube[axis] * lattice_edge + lattice_edge / 2 + off_centre;
        }
        return node;
    }
};

LatticeVector difference(const LatticeVector& a, const LatticeVector& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

struct Equation {
    double anisotropy;  // diffusivity along z; along x and y it is 1
    double peclet;      // speed, in diffusivities over an edge

    /// Minus the coefficient of a neighbour in a cell's row: diffusion plus inflow from the neighbour. `path` leads from the
    /// cell's node to the neighbour's, in coordinates; area_over_distance is in edges.
    [[nodiscard]] double flux(const LatticeVector& path, double area_over_distance) const {
        constexpr double edge = lattice_edge;
        const auto x = static_cast<double>(path[0]);
        const auto y = static_cast<double>(path[1]);
        const auto z = static_cast<double>(path[2]);
        const double diffusivity = (x * x + y * y + anisotropy * (z * z)) / static_cast<double>(square_of(path));
        const double outflow = peclet * ((6 * x + 3 * y + 2 * z) / (7 * edge));  // the direction (6, 3, 2) / 7 has length 1
        return area_over_distance * (diffusivity + std::max(-outflow, 0.0));
    }
};

/// The faces of the cells first .. end - 1 as entries (cell, neighbour with a higher number, area over distance). The diagonal
/// entries are the fluxes from eliminated neighbours.
std::vector<Entry> block_faces(const Mesh& mesh, const Equation& equation, const std::vector<LatticeStep>& steps, Index first,
                               Index end) {
    thread_local VoronoiCell cell;
    std::vector<Entry> faces;
    faces.reserve(9 * static_cast<std::size_t>(end - first));
    for (Index number = first; number < end; ++number) {
        const Cube cube = mesh.grid.place(number);
        const LatticeVector node = mesh.node(cube);
        cell.begin();
        for (const LatticeStep& step : steps) {
            if (!cell.is_reached_from(step.least_square)) break;
            const LatticeVector path = difference(mesh.node(cube + step.step), node);
            if (cell.is_reached_from(square_of(path))) cell.cut(path, static_cast<Index>(&step - steps.data()));
        }
        double eliminated = 0;
        for (std::size_t i = 0; i < cell.neighbours().size(); ++i) {
            const auto& [path, step] = cell.neighbours()[i];
            if (step < 0) continue;
            const Cube beyond = cube + steps[step].step;
            const bool unknown = mesh.grid.has(beyond);
            const auto beyond_number = static_cast<Index>(mesh.grid.number(beyond));
            if (unknown && beyond_number < number) continue;
            const double flow = cell.area_over_distance(i);
            const double distance = std::sqrt(static_cast<double>(square_of(path))) / static_cast<double>(lattice_edge);
            if (flow * distance <= mesh.smallest_face) continue;
            if (unknown) {
                faces.push_back({number, beyond_number, flow});
            } else {
                eliminated += equation.flux(path, flow);
            }
        }
        faces.push_back({number, number, eliminated});
    }
    return faces;
}

/// Removes the entries of a row, and their mirror images, beyond its 20 largest areas over distances. Entries equal to the 21st
/// are removed as well, so that the result does not depend on the order of the neighbours.
void limit_neighbours(CsrMatrix& matrix) {
    std::vector<double> too_small(matrix.rows, 0.0);
    guarded_for("too_small", CellRange(0, matrix.rows), [&](Index row) {
        if (matrix.row_length(row) <= most_neighbours + 1) return;
        std::vector<double> flows;
        for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
            if (matrix.column_indices[i] != row) flows.push_back(matrix.values[i]);
        }
        std::nth_element(flows.begin(), flows.begin() + most_neighbours, flows.end(), std::greater<>());
        too_small[row] = flows[most_neighbours];
    });
    Offset from = 0;
    Offset to = 0;
    for (Index row = 0; row < matrix.rows; ++row) {
        for (; from < matrix.row_offsets[row + 1]; ++from) {
            const Index column = matrix.column_indices[from];
            const double value = matrix.values[from];
            if (column != row && value <= std::max(too_small[row], too_small[column])) continue;
            matrix.column_indices[to] = column;
            matrix.values[to++] = value;
        }
        matrix.row_offsets[row + 1] = to;
    }
    matrix.column_indices.resize(to);
    matrix.values.resize(to);
}

CsrMatrix areas_over_distances(const Mesh& mesh, const Equation& equation, Index cells) {
    const std::vector<LatticeStep> steps = steps_around();
    const Offset blocks = (Offset{cells} + block_cells - 1) / block_cells;
    std::vector<std::vector<Entry>> faces(blocks);
    guarded_for("finite_volume", Blocks(0, blocks), [&](Offset block) {
        const Offset first = block * block_cells;
        const Offset end = std::min(first + block_cells, Offset{cells});
        faces[block] = block_faces(mesh, equation, steps, static_cast<Index>(first), static_cast<Index>(end));
    });
    const std::vector<std::span<const Entry>> pieces(faces.begin(), faces.end());
    return csr_from_entries(cells, cells, pieces, Mirror::same);
}

/// Turns areas over distances into coefficients. The diagonal is the sum of all fluxes, including those from eliminated nodes.
void discretize(const Mesh& mesh, const Equation& equation, CsrMatrix& matrix) {
    Kokkos::parallel_for("discretize", CellRange(0, matrix.rows), [&](Index row) {
        const LatticeVector node = mesh.node(mesh.grid.place(row));
        double sum = 0;
        Offset diagonal = 0;
        for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
            double& value = matrix.values[i];
            if (matrix.column_indices[i] == row) {
                diagonal = i;
                sum += value;
            } else {
                const double flux =
                    equation.flux(difference(mesh.node(mesh.grid.place(matrix.column_indices[i])), node), value);
                sum += flux;
                value = -flux;
            }
        }
        matrix.values[diagonal] = sum;
    });
}

Mesh mesh_of(const Parameters& parameters) {
    // If more than three planes meet in a corner, a face of area 0 gets a tiny area by rounding; 2^-30 filters it out.
    return {.grid = grid_of(parameters, 3),
            .seed = static_cast<std::uint64_t>(parameters.integer("seed")),
            .spread = static_cast<std::int64_t>(std::floor(parameters.real("irregularity") * lattice_edge + 0.5)),
            .smallest_face = std::max(parameters.real("smallest_face"), 0x1p-30)};
}

/// The order from the natural numbering, x fastest, to that of the matrix; none if they are the same.
std::optional<Permutation> order_of_cells(const Parameters& parameters, const Mesh& mesh) {
    const std::string& numbering = parameters.text("numbering");
    if (numbering == "natural") return {};
    if (numbering == "hilbert") return hilbert_order(mesh.grid.lengths);
    return random_permutation(static_cast<Index>(mesh.grid.nodes()), mesh.seed);
}

std::vector<NodePlace> finite_volume_places(const Parameters& parameters) {
    const Mesh mesh = mesh_of(parameters);
    const std::optional<Permutation> order = order_of_cells(parameters, mesh);
    std::vector<NodePlace> places(mesh.grid.nodes());
    for (Index cell = 0; cell < static_cast<Index>(places.size()); ++cell) {
        const LatticeVector node = mesh.node(mesh.grid.place(cell));
        const auto along = [&node](int axis) { return static_cast<double>(node[axis]) / lattice_edge; };
        places[order ? order->new_of_old(cell) : cell] = {along(0), along(1), along(2)};
    }
    return places;
}

CsrMatrix finite_volume(const Parameters& parameters) {
    const Mesh mesh = mesh_of(parameters);
    const Equation equation{parameters.real("anisotropy"), parameters.real("peclet")};
    const auto cells = static_cast<Index>(mesh.grid.nodes());
    // A cell has at most 16 neighbours on average. Temporary memory is first the upper triangle as a list, with four bytes per
    // nonzero to sort it, and later a permuted copy of the matrix with the orders, which takes no more.
    constexpr double row_entries = 17;
    constexpr double beside = row_entries * (sizeof(Index) + sizeof(double)) + sizeof(Offset) + 4 * sizeof(Index);
    check_generator_memory(cells, row_entries * cells, beside * cells);

    CsrMatrix matrix = areas_over_distances(mesh, equation, cells);
    limit_neighbours(matrix);
    discretize(mesh, equation, matrix);
    const std::optional<Permutation> order = order_of_cells(parameters, mesh);
    return order ? permute(matrix, *order, *order) : matrix;
}

}  // namespace

std::vector<GeneratorEntry> finite_volume_generators() {
    return {{"finite_volume",
             "diffusion, or convection and diffusion, by finite volumes on polyhedral cells in space, 14 neighbours on average",
             grid_parameters(
                 3, {real_parameter("irregularity", 0, 1,
                                    "0: nodes at the centres, cells are cubes; 1: nodes anywhere in their cubes", 1),
                     real_parameter("smallest_face", 0, 0.05, "drop faces up to this area, in squared cube edges", 0.01),
                     real_parameter("anisotropy", 1e-6, 1e6, "diffusivity along z over diffusivity along x and y", 1),
                     real_parameter("peclet", 0, 1e6,
                                    "cell Peclet number, speed times edge over diffusivity; 0: pure diffusion, symmetric", 0),
                     choice_parameter("numbering", by_default("natural"), {"natural", "scrambled", "hilbert"},
                                      "of the nodes: x fastest, random (by the seed), or along a Hilbert curve"),
                     seed_parameter()}),
             finite_volume, nullptr, nullptr, finite_volume_places}};
}

}  // namespace workbench
