#include "core/input/generators/generators.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "core/contract/errors.hpp"
#include "core/input/generators/generator_kinds.hpp"
#include "core/system/host_memory.hpp"
#include "core/text/words.hpp"

namespace workbench {
namespace {

constexpr std::int64_t most_rows = std::numeric_limits<Index>::max();

}  // namespace

void check_generator_memory(double rows, double nonzeros, double more) {
    const double wanted = nonzeros * (sizeof(Index) + sizeof(double)) + rows * sizeof(Offset) + more;
    require_host_memory(static_cast<std::size_t>(std::min(wanted, 0x1p62)),
                        fmt::format("a matrix of {:.0f} rows and {:.0f} nonzeros", rows, nonzeros));
}

ParameterDeclaration integer_parameter(const std::string& name, std::int64_t minimum, std::int64_t maximum,
                                       const std::string& help, std::optional<std::int64_t> default_value) {
    return {.name = name,
            .default_value = default_value,
            .minimum = static_cast<double>(minimum),
            .maximum = static_cast<double>(maximum),
            .help = help};
}

ParameterDeclaration real_parameter(const std::string& name, double minimum, double maximum, const std::string& help,
                                    std::optional<double> default_value) {
    return {.name = name,
            .type = ParameterType::real,
            .default_value = default_value,
            .minimum = minimum,
            .maximum = maximum,
            .help = help};
}

ParameterDeclaration scramble_parameter() {
    return integer_parameter("scramble", by_default(0), at_least(0),
                             "seed of a random numbering of the nodes; 0: natural numbering, x fastest");
}

ParameterDeclaration seed_parameter() {
    return integer_parameter("seed", by_default(1), at_least(0), "seed of the random numbers");
}

std::vector<ParameterDeclaration> grid_parameters(int dimensions, std::vector<ParameterDeclaration> more) {
    std::vector<ParameterDeclaration> all;
    for (const char* name : {"nx", "ny", "nz"}) {
        if (name[1] == 'z' && dimensions < 3) continue;
        const bool first = name[1] == 'x';
        all.push_back({.name = name,
                       .optional = !first,
                       .minimum = 1,
                       .maximum = static_cast<double>(most_rows),
                       .unit = "nodes",
                       .help = first ? "nodes along x" : fmt::format("nodes along {}; default: nx", name[1])});
    }
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

Grid grid_of(const Parameters& parameters, int dimensions, Index unknowns) {
    const auto length = [&](const char* name) { return parameters.integer(parameters.has(name) ? name : "nx"); };
    const Grid grid{{length("nx"), length("ny"), dimensions == 3 ? length("nz") : 1}};
    std::int64_t rows = unknowns;
    for (const std::int64_t nodes : grid.lengths) {
        if (rows > most_rows / nodes) {
            const auto& [nx, ny, nz] = grid.lengths;
            throw InputError(fmt::format("found a grid of {} x {} x {} nodes with {} each; expected at most {} rows", nx, ny,
                                         nz, counted(unknowns, "unknown"), most_rows));
        }
        rows *= nodes;
    }
    return grid;
}

std::vector<GeneratorEntry> generators() {
    std::vector<GeneratorEntry> all = grid_generators();
    for (const auto& more : {delaunay_generators(), finite_volume_generators(), random_generators()})
        all.insert(all.end(), more.begin(), more.end());
    return all;
}

}  // namespace workbench
