// Nested dissection: number two halves recursively, and the separator that couples them last.
#include <vector>

#include "stages/metis_graph.hpp"
#include "stages/order.hpp"
#include "stages/parameters.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

StageResult run_nested_dissection(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    const Graph graph = adjacency_graph(staged.matrix, staged.node_size);
    std::vector<Index> order =
        dissect_with_metis(metis_graph(graph, {}, "nested_dissection"), static_cast<Index>(parameters.integer("seed")));
    for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) {
        if (graph.degree(vertex) == 0) order.push_back(vertex);
    }
    return {.change = {.order = order_of_nodes(std::move(order), staged.node_size)}};
}

}  // namespace

StageEntry nested_dissection_stage() {
    return {
        .name = "nested_dissection",
        .summary = "Bisect the graph of A + A^T recursively by small separators, and number each separator after its halves",
        .source =
            "George, 'Nested dissection of a regular finite element mesh', SIAM J. Numerical Analysis 1973; library: METIS "
            "(Karypis, Kumar, 'A fast and high quality multilevel scheme for partitioning irregular graphs', SIAM J. "
            "Scientific Computing 1998)",
        .parameters = {seed_parameter(), storage_parameter()},
        .contract = contract_of_symmetric_order,
        .orders_all = true,
        .run = order_or_storage<run_nested_dissection>,
        .foresee = foresee_gathered_rows,
        .nanoseconds_per_nonzero = 1500};
}

}  // namespace workbench
