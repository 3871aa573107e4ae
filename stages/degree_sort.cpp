// Rows and columns by their number of neighbours in the graph.
#include "stages/graph.hpp"
#include "stages/order.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

StageResult run(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    const Graph graph = adjacency_graph(staged.matrix, staged.node_size);
    std::vector<Index> keys(graph.vertex_count());
    for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) keys[vertex] = graph.degree(vertex);
    std::vector<Index> order = sorted({keys, {}, parameters.text("order") == "descending"}, staged.preparer);
    const Permutation nodes = Permutation::from_old_of_new(std::move(order));
    return {.change = {.order = OrderChange{Acts::symmetric, expand(nodes, staged.node_size)}}};
}

}  // namespace

StageEntry degree_sort_stage() {
    return {
        .name = "degree_sort",
        .summary = "Sort rows and columns alike by their degree in the graph of A + A^T, so that hubs are neighbours (stable)",
        .source = "Faldu, Diamond and Grot, 'A closer look at lightweight graph reordering' (2019), section II: Sort",
        .parameters = {{.name = "order",
                        .type = ParameterType::choice,
                        .default_value = "descending",
                        .words = {"descending", "ascending"},
                        .help = "most neighbours first, or fewest first; equals keep their order"}},
        .contract = [](const Parameters&) { return StageContract{.needs = {.square = true}, .acts = Acts::symmetric}; },
        .run = run};
}

}  // namespace workbench
