// Diffusion and convection by finite volumes on polyhedral cells in space.
//
// One node lies at a random place in each cube of a lattice, everywhere in space; those of nx x ny x nz cubes are the unknowns,
// all others are held fixed and left out. The cells are the Voronoi cells of the nodes. Between two cells flows by diffusion
// the area of their common face over the distance of their nodes, and by convection what the cell upstream has. Source: Eymard,
// Gallouet, Herbin, "Finite volume methods" (2000), section 9.2: Voronoi meshes, two-point fluxes, upstream weighting.
//
// Each cell is cut by itself, in parallel, and which cells touch is exact (voronoi_cell.hpp). A face is measured once, from the
// cell with the lower number, so that both cells have the same flux to the bit.
#include <fmt/core.h>
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "pipeline/contract/errors.hpp"
#include "pipeline/input/generator_kinds.hpp"
#include "pipeline/input/hilbert_order.hpp"
#include "pipeline/input/voronoi_cell.hpp"
#include "pipeline/matrix/guarded_loop.hpp"
#include "pipeline/matrix/random.hpp"

namespace workbench {
namespace {

using Host = Kokkos::DefaultHostExecutionSpace;
using Blocks = Kokkos::RangePolicy<Host, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<Offset>>;
using Rows = Kokkos::RangePolicy<Host, Kokkos::IndexType<Index>>;
using Cube = std::array<std::int64_t, 3>;

constexpr std::int64_t rim = 4;  // cubes beyond it hold no node within farthest_square
constexpr Index block_cells = 4096;
constexpr Offset most_neighbours = 20;

/// A step to a cube around.
struct Step {
    Cube step;
    std::int64_t least_square;  // of the distance of two nodes in these cubes, in coordinates
};

/// All steps to cubes whose nodes may share a face, near ones first.
std::vector<Step> steps_around() {
    std::vector<Step> steps;
    for (std::int64_t z = -rim; z <= rim; ++z) {
        for (std::int64_t y = -rim; y <= rim; ++y) {
            for (std::int64_t x = -rim; x <= rim; ++x) {
                const auto gap = [](std::int64_t step) { return std::max(std::abs(step) - 1, std::int64_t{0}) * lattice_edge; };
                const std::int64_t least_square = square_of({gap(x), gap(y), gap(z)});
                if ((x != 0 || y != 0 || z != 0) && least_square <= farthest_square) steps.push_back({{x, y, z}, least_square});
            }
        }
    }
    std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
        return std::pair(a.least_square, square_of(a.step)) < std::pair(b.least_square, square_of(b.step));
    });
    return steps;
}

struct Mesh {
    std::array<std::int64_t, 3> lengths;
    std::uint64_t seed;
    std::int64_t spread;   // of a node in its cube, in coordinates
    double smallest_face;  // in squares of an edge

    [[nodiscard]] bool has(const Cube& cube) const {
        for (int axis = 0; axis < 3; ++axis) {
            if (cube[axis] < 0 || cube[axis] >= lengths[axis]) return false;
        }
        return true;
    }
    [[nodiscard]] Index number(const Cube& cube) const {
        return static_cast<Index>(cube[0] + lengths[0] * (cube[1] + lengths[1] * cube[2]));
    }
    [[nodiscard]] Cube cube(Index number) const {
        return {number % lengths[0], number / lengths[0] % lengths[1], number / lengths[0] / lengths[1]};
    }
    /// The node of a cube, no more than `rim` from the unknowns. Ten random bits an axis.
    [[nodiscard]] LatticeVector node(const Cube& cube) const {
        const std::int64_t place =
            cube[0] + rim + (lengths[0] + 2 * rim) * (cube[1] + rim + (lengths[1] + 2 * rim) * (cube[2] + rim));
        const std::uint64_t random = random_stream(seed, static_cast<std::uint64_t>(place)).next();
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

    /// What the neighbour's value counts in a cell's row, times -1: diffusion, and what flows in from there. `path` leads from
    /// the cell's node to the neighbour's, in coordinates; the face's area over the distance is in edges.
    [[nodiscard]] double flux(const LatticeVector& path, double area_over_distance) const {
        constexpr double edge = lattice_edge;
        const auto x = static_cast<double>(path[0]);
        const auto y = static_cast<double>(path[1]);
        const auto z = static_cast<double>(path[2]);
        const double diffusivity = (x * x + y * y + anisotropy * (z * z)) / static_cast<double>(square_of(path));
        const double outflow = peclet * ((6 * x + 3 * y + 2 * z) / (7 * edge));  // a direction of length 1
        return area_over_distance * (diffusivity + std::max(-outflow, 0.0));
    }
};

/// The faces of the cells of one block: (cell, neighbour with a higher number, area over distance), and on the diagonal the
/// fluxes from neighbours that are held fixed.
std::vector<Entry> block_faces(const Mesh& mesh, const Equation& equation, const std::vector<Step>& steps, Index first,
                               Index end) {
    thread_local VoronoiCell cell;
    std::vector<Entry> faces;
    faces.reserve(9 * static_cast<std::size_t>(end - first));
    for (Index number = first; number < end; ++number) {
        const Cube cube = mesh.cube(number);
        const LatticeVector node = mesh.node(cube);
        const auto moved = [&cube](const Cube& step) -> Cube {
            return {cube[0] + step[0], cube[1] + step[1], cube[2] + step[2]};
        };
        cell.begin();
        for (const Step& step : steps) {
            if (!cell.is_reached_from(step.least_square)) break;
            const LatticeVector path = difference(mesh.node(moved(step.step)), node);
            if (cell.is_reached_from(square_of(path))) cell.cut(path, static_cast<Index>(&step - steps.data()));
        }
        double held = 0;
        for (std::size_t i = 0; i < cell.neighbours().size(); ++i) {
            const auto& [path, step] = cell.neighbours()[i];
            if (step < 0) continue;
            const Cube beyond = moved(steps[step].step);
            const bool is_held = !mesh.has(beyond);
            if (!is_held && mesh.number(beyond) < number) continue;
            const double flow = cell.area_over_distance(i);
            const double distance = std::sqrt(static_cast<double>(square_of(path))) / static_cast<double>(lattice_edge);
            if (flow * distance <= mesh.smallest_face) continue;
            if (is_held) {
                held += equation.flux(path, flow);
            } else {
                faces.push_back({number, mesh.number(beyond), flow});
            }
        }
        faces.push_back({number, number, held});
    }
    return faces;
}

/// Of a matrix of areas over distances: leaves out those beyond the largest 20 of a row, and their mirror images. What equals
/// the 21st is left out as well: no order of the neighbours decides.
void limit_neighbours(CsrMatrix& matrix) {
    std::vector<double> too_small(matrix.rows, 0.0);
    guarded_for("too_small", Rows(0, matrix.rows), [&](Index row) {
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
    const std::vector<Step> steps = steps_around();
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

/// From areas over distances to the equation. On the diagonal stands the sum of all fluxes, held ones included.
void discretize(const Mesh& mesh, const Equation& equation, CsrMatrix& matrix) {
    Kokkos::parallel_for("discretize", Rows(0, matrix.rows), [&](Index row) {
        const LatticeVector node = mesh.node(mesh.cube(row));
        double sum = 0;
        Offset diagonal = 0;
        for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
            double& value = matrix.values[i];
            if (matrix.column_indices[i] == row) {
                diagonal = i;
                sum += value;
            } else {
                const double flux = equation.flux(difference(mesh.node(mesh.cube(matrix.column_indices[i])), node), value);
                sum += flux;
                value = -flux;
            }
        }
        matrix.values[diagonal] = sum;
    });
}

CsrMatrix finite_volume(const Parameters& parameters) {
    const std::int64_t nx = parameters.integer("nx");
    const auto length = [&](const char* name) { return parameters.has(name) ? parameters.integer(name) : nx; };
    const auto seed = static_cast<std::uint64_t>(parameters.integer("seed"));
    const auto spread = static_cast<std::int64_t>(std::floor(parameters.real("irregularity") * lattice_edge + 0.5));
    // Faces without area, where more than three planes meet in a corner, are rounded to nearly none.
    const Mesh mesh{{nx, length("ny"), length("nz")}, seed, spread, std::max(parameters.real("smallest_face"), 0x1p-30)};
    const Equation equation{parameters.real("anisotropy"), parameters.real("peclet")};
    constexpr std::int64_t most = std::numeric_limits<Index>::max();
    const auto& [x, y, z] = mesh.lengths;
    if (x > most / y || x * y > most / z) {
        throw InputError(fmt::format("found {} x {} x {} nodes; expected at most {}", x, y, z, most));
    }
    const auto cells = static_cast<Index>(x * y * z);
    // 16 neighbours on average at most. Beside the matrix there are first the entries on and above its diagonal as a list, with
    // four bytes a nonzero to sort them, and later the matrix in another numbering with the orders: no more than that.
    constexpr double row_entries = 17;
    constexpr double beside = row_entries * (sizeof(Index) + sizeof(double)) + sizeof(Offset) + 4 * sizeof(Index);
    check_generator_memory(cells, row_entries * cells, beside * cells);

    CsrMatrix matrix = areas_over_distances(mesh, equation, cells);
    limit_neighbours(matrix);
    discretize(mesh, equation, matrix);
    const std::string& numbering = parameters.text("numbering");
    if (numbering == "natural") return matrix;
    const Permutation order = numbering == "hilbert" ? hilbert_order(mesh.lengths) : random_permutation(cells, seed);
    return permute(matrix, order, order);
}

ParameterDeclaration real_parameter(const std::string& name, double default_value, double minimum, double maximum,
                                    const std::string& help) {
    ParameterDeclaration declaration;
    declaration.name = name;
    declaration.type = ParameterType::real;
    declaration.default_value = default_value;
    declaration.minimum = minimum;
    declaration.maximum = maximum;
    declaration.help = help;
    return declaration;
}

ParameterDeclaration numbering_parameter() {
    ParameterDeclaration declaration;
    declaration.name = "numbering";
    declaration.type = ParameterType::choice;
    declaration.default_value = "natural";
    declaration.words = {"natural", "scrambled", "hilbert"};
    declaration.help = "of the nodes: x fastest, at random by the seed, or along a Hilbert curve";
    return declaration;
}

}  // namespace

std::vector<GeneratorEntry> finite_volume_generators() {
    return {
        {"finite_volume",
         "diffusion, or convection and diffusion, by finite volumes on polyhedral cells in space, 14 neighbours on average",
         {grid_length_parameter("nx", true), grid_length_parameter("ny", false), grid_length_parameter("nz", false),
          real_parameter("irregularity", 1, 0, 1,
                         "0: a node is in the middle of its cube, cells are cubes; 1: it is anywhere in its cube"),
          real_parameter("smallest_face", 0.01, 0, 0.05, "faces of no larger area, in squares of a cube's edge, are left out"),
          real_parameter("anisotropy", 1, 1e-6, 1e6, "diffusivity along z over that along x and y"),
          real_parameter("peclet", 0, 0, 1e6,
                         "Peclet number of a cube, speed times edge over diffusivity; 0: diffusion alone, symmetric"),
          numbering_parameter(), seed_parameter()},
         finite_volume}};
}

}  // namespace workbench
