// Partitions that cost little: an order that numbers neighbours near each other, cut into equal pieces.
#include <algorithm>
#include <string>
#include <utility>

#include "stages/cuthill_mckee_order.hpp"
#include "stages/fit_partition.hpp"
#include "stages/order.hpp"
#include "stages/partition_stage.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

StageResult cut_order(const StagedMatrix& staged, const Parameters& parameters, const StageContext& context,
                      std::string_view stage, SearchStart start) {
    const PartitionPlan plan = plan_parts(staged, parameters, context, stage);
    const Graph graph = adjacency_graph(staged.matrix, staged.node_size);
    StageResult result;
    note_plan(result, plan, staged.node_size);
    std::vector<Index> order = cuthill_mckee_order(graph, start).old_of_new;
    if (start == SearchStart::rim) std::reverse(order.begin(), order.end());

    Cuts cuts{CutKind::partition, equal_pieces(order, node_weights(staged, parameters, context), plan)};
    std::vector<Index> part_of(order.size());
    for (Index part = 0; part < plan.parts; ++part) {
        for (Index i = cuts.boundaries[part]; i < cuts.boundaries[part + 1]; ++i) part_of[order[i]] = part;
    }
    note_count(result, "edge cut", edge_cut(graph, part_of));
    for (Index& boundary : cuts.boundaries) boundary *= staged.node_size;
    result.change.order =
        OrderChange{Acts::symmetric, expand(Permutation::from_old_of_new(std::move(order)), staged.node_size)};
    if (parameters.text("keep") == "partition") result.change.cuts = {std::move(cuts)};
    return result;
}

StageResult run_rcm_blocks(const StagedMatrix& staged, const Parameters& parameters, const StageContext& context) {
    return cut_order(staged, parameters, context, "rcm_blocks", SearchStart::rim);
}

StageResult run_bfs_blocks(const StagedMatrix& staged, const Parameters& parameters, const StageContext& context) {
    return cut_order(staged, parameters, context, "bfs_blocks", SearchStart::first_vertex);
}

std::vector<ParameterDeclaration> parameters() {
    std::vector<ParameterDeclaration> list = plan_parameters("the pieces");
    list.push_back(keep_parameter());
    return list;
}

}  // namespace

StageEntry rcm_blocks_stage() {
    return {.name = "rcm_blocks",
            .summary = "Order by reverse Cuthill-McKee and cut the order into equal pieces: a partition that costs little",
            .source =
                "reverse Cuthill-McKee: Cuthill, McKee (1969), George (1971); number and size of the parts: EHYB section 3.3, "
                "eq. 1-2",
            .parameters = parameters(),
            .contract = contract_of_partition,
            .run = run_rcm_blocks};
}

StageEntry bfs_blocks_stage() {
    return {
        .name = "bfs_blocks",
        .summary = "Order by a breadth-first search from the first row of each component, and cut the order into equal pieces",
        .source = "level structures: Cuthill, McKee (1969); number and size of the parts: EHYB section 3.3, eq. 1-2",
        .parameters = parameters(),
        .contract = contract_of_partition,
        .run = run_bfs_blocks};
}

}  // namespace workbench
