// Approximate minimum degree: the order in which elimination fills in little. Here a rival of the orders for locality.
#include <fmt/format.h>
#include <suitesparse/amd.h>

#include <array>
#include <cmath>
#include <vector>

#include "pipeline/contract/errors.hpp"
#include "stages/graph.hpp"
#include "stages/order.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

StageResult run(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    const Graph graph = adjacency_graph(staged.matrix, staged.node_size);
    const std::vector<SuiteSparse_long> offsets(graph.offsets.begin(), graph.offsets.end());
    std::vector<SuiteSparse_long> neighbours(graph.neighbours.begin(), graph.neighbours.end());
    neighbours.resize(std::max<std::size_t>(neighbours.size(), 1));  // AMD refuses an array without an address
    std::vector<SuiteSparse_long> found(std::max<std::size_t>(graph.vertex_count(), 1));
    std::array<double, AMD_CONTROL> control{};
    std::array<double, AMD_INFO> info{};
    amd_l_defaults(control.data());
    control[AMD_DENSE] = parameters.real("dense");
    const auto status =
        amd_l_order(graph.vertex_count(), offsets.data(), neighbours.data(), found.data(), control.data(), info.data());
    if (status == AMD_OUT_OF_MEMORY) {
        throw MachineError(fmt::format("approximate_minimum_degree: AMD ran out of memory on {} vertices and {} edges",
                                       graph.vertex_count(), graph.neighbours.size() / 2));
    }
    if (status != AMD_OK) throw InputError(fmt::format("approximate_minimum_degree: AMD gave up with status {}", status));

    const Permutation nodes =
        Permutation::from_old_of_new(std::vector<Index>(found.begin(), found.begin() + graph.vertex_count()));
    StageResult result{.change = {.order = OrderChange{Acts::symmetric, expand(nodes, staged.node_size)}}};
    // AMD does not count the diagonal. Without dense rows the number is what symbolic elimination fills in, or slightly more.
    result.notes.emplace_back(
        "nonzeros of a Cholesky factor, at most",
        fmt::format("{:.0f}{}", info[AMD_LNZ] + graph.vertex_count(), staged.node_size > 1 ? ", of nodes" : ""));
    if (info[AMD_NDENSE] > 0)
        result.notes.emplace_back("dense rows, put last", fmt::format("{:.0f}", info[AMD_NDENSE] * staged.node_size));
    return result;
}

}  // namespace

StageEntry approximate_minimum_degree_stage() {
    return {
        .name = "approximate_minimum_degree",
        .summary = "Number next the row of about the least degree in elimination, as sparse Cholesky factorization wants it",
        .source = "Amestoy, Davis and Duff, 'An approximate minimum degree ordering algorithm' (1996); AMD of SuiteSparse",
        .parameters = {{.name = "dense",
                        .type = ParameterType::real,
                        .default_value = 10.0,
                        .minimum = 0,
                        .maximum = 1e9,
                        .help = "rows coupled with more than max(16, dense * sqrt(rows)) others are put last, unseen by the "
                                "rest"}},
        .contract = [](const Parameters&) { return StageContract{.needs = {.square = true}, .acts = Acts::symmetric}; },
        .run = run};
}

}  // namespace workbench
