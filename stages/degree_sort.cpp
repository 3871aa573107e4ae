// Sorts rows and columns by their degree in the graph.
#include "stages/graph.hpp"
#include "stages/order.hpp"
#include "stages/parameters.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

StageResult run_degree_sort(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    const Graph graph = adjacency_graph(staged.matrix, staged.node_size);
    std::vector<Index> keys(graph.vertex_count());
    for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) keys[vertex] = graph.degree(vertex);
    std::vector<Index> order = sorted({.keys = keys, .groups = {}, .descending = descends(parameters)});
    return {.change = {.order = order_of_nodes(std::move(order), staged.node_size)}};
}

}  // namespace

StageEntry degree_sort_stage() {
    return {
        .name = "degree_sort",
        .summary = "Sort rows and columns alike by their degree in the graph of A + A^T, so that hubs are adjacent (stable)",
        .source = "Faldu, Diamond, Grot, 'A closer look at lightweight graph reordering', IISWC 2019, section II: Sort",
        .parameters = {direction_parameter("vertices of highest degree"), storage_parameter()},
        .contract = contract_of_symmetric_order,
        .orders_all = true,
        .run = order_or_storage<run_degree_sort>,
        .on_device = [](const Parameters& parameters) -> std::optional<DeviceStep> {
            if (parameters.has("share")) return std::nullopt;
            return SortByDegree{descends(parameters)};
        },
        .foresee = foresee_scattered_rows,
        .nanoseconds_per_nonzero = 10};
}

}  // namespace workbench
