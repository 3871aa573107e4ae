// Approximate minimum degree: an order for little fill-in, here a rival of the orders for locality.
#include <fmt/format.h>
#include <suitesparse/amd.h>

#include <array>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/text/words.hpp"
#include "stages/graph.hpp"
#include "stages/order.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

StageResult run_approximate_minimum_degree(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    const Graph graph = adjacency_graph(staged.matrix, staged.node_size);
    const std::vector<SuiteSparse_long> offsets(graph.offsets.begin(), graph.offsets.end());
    std::vector<SuiteSparse_long> neighbours(graph.neighbours.begin(), graph.neighbours.end());
    neighbours.resize(std::max<std::size_t>(neighbours.size(), 1));  // AMD refuses a null pointer
    std::vector<SuiteSparse_long> found(std::max<std::size_t>(graph.vertex_count(), 1));
    std::array<double, AMD_CONTROL> control{};
    std::array<double, AMD_INFO> info{};
    amd_l_defaults(control.data());
    control[AMD_DENSE] = parameters.real("dense");
    const auto status =
        amd_l_order(graph.vertex_count(), offsets.data(), neighbours.data(), found.data(), control.data(), info.data());
    if (status == AMD_OUT_OF_MEMORY) {
        throw MachineError(fmt::format("approximate_minimum_degree: AMD ran out of memory on {} and {}",
                                       counted(graph.vertex_count(), "vertex"), counted(graph.neighbours.size() / 2, "edge")));
    }
    if (status != AMD_OK) throw InputError(fmt::format("approximate_minimum_degree: AMD failed with status {}", status));

    std::vector<Index> order(found.begin(), found.begin() + graph.vertex_count());
    StageResult result{.change = {.order = order_of_nodes(std::move(order), staged.node_size)}};
    // AMD does not count the diagonal.
    result.notes.emplace_back(
        "nonzeros of a Cholesky factor, at most",
        fmt::format("{:.0f}{}", info[AMD_LNZ] + graph.vertex_count(), staged.node_size > 1 ? ", of nodes" : ""));
    if (info[AMD_NDENSE] > 0) {
        result.notes.emplace_back("dense rows, put last", fmt::format("{:.0f}", info[AMD_NDENSE] * staged.node_size));
    }
    return result;
}

}  // namespace

StageEntry approximate_minimum_degree_stage() {
    return {
        .name = "approximate_minimum_degree",
        .summary = "Reduce the fill-in of a Cholesky factorization: eliminate a row of approximately minimum degree next",
        .source =
            "Amestoy, Davis, Duff, 'An approximate minimum degree ordering algorithm', SIAM J. Matrix Analysis 1996; library: "
            "AMD of SuiteSparse (Amestoy, Davis, Duff, 'Algorithm 837', ACM TOMS 2004)",
        .parameters = {real_parameter(
                           "dense", by_default(10.0), between(0, 1e9),
                           "rows coupled with more than max(16, dense * sqrt(rows)) others are ignored and put last"),
                       storage_parameter()},
        .contract = contract_of_symmetric_order,
        .orders_all = true,
        .run = order_or_storage<run_approximate_minimum_degree>,
        .foresee = foresee_gathered_rows,
        .nanoseconds_per_nonzero = 380};
}

}  // namespace workbench
