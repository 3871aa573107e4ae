#include "pipeline/input/generators.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "pipeline/contract/host_memory.hpp"
#include "pipeline/input/generator_kinds.hpp"

namespace workbench {

void check_generator_memory(double rows, double nonzeros, double more) {
    const double wanted = nonzeros * (sizeof(Index) + sizeof(double)) + rows * sizeof(Offset) + more;
    require_host_memory(static_cast<std::size_t>(std::min(wanted, 0x1p62)),
                        fmt::format("a matrix of {:.0f} rows and {:.0f} nonzeros", rows, nonzeros));
}

ParameterDeclaration integer_parameter(const std::string& name, std::int64_t minimum, std::int64_t maximum,
                                       const std::string& help) {
    ParameterDeclaration declaration;
    declaration.name = name;
    declaration.minimum = static_cast<double>(minimum);
    declaration.maximum = static_cast<double>(maximum);
    declaration.help = help;
    return declaration;
}

ParameterDeclaration grid_length_parameter(const std::string& name, bool required) {
    const std::string help = required ? "nodes along x" : fmt::format("nodes along {}; as nx where absent", name.substr(1));
    ParameterDeclaration declaration = integer_parameter(name, 1, std::numeric_limits<Index>::max(), help);
    declaration.optional = !required;
    declaration.unit = "nodes";
    return declaration;
}

ParameterDeclaration scramble_parameter() {
    ParameterDeclaration declaration;
    declaration.name = "scramble";
    declaration.default_value = std::int64_t{0};
    declaration.minimum = 0;
    declaration.help = "seed of a random numbering of the nodes; 0: the natural numbering, x fastest";
    return declaration;
}

ParameterDeclaration seed_parameter() {
    ParameterDeclaration declaration;
    declaration.name = "seed";
    declaration.default_value = std::int64_t{1};
    declaration.minimum = 0;
    declaration.help = "another seed gives another matrix";
    return declaration;
}

std::vector<GeneratorEntry> generators() {
    std::vector<GeneratorEntry> all = grid_generators();
    for (const auto& more : {delaunay_generators(), finite_volume_generators(), random_generators()})
        all.insert(all.end(), more.begin(), more.end());
    return all;
}

}  // namespace workbench
