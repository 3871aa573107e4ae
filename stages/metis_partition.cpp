// Graph partitioning: rows that read the same entries of x, gathered in parts that fit into shared memory.
#include <utility>

#include "stages/metis_graph.hpp"
#include "stages/partition_stage.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

constexpr std::string_view stage_name = "metis_partition";

StageResult run(const StagedMatrix& staged, const Parameters& parameters, const StageContext& context) {
    const PartitionPlan plan = plan_parts(staged, parameters, context, stage_name);
    const Graph graph = adjacency_graph(staged.matrix, staged.node_size);
    StageResult result;
    note_plan(result, plan, staged.node_size);
    std::vector<Index> part_of = consecutive_parts(graph.vertex_count(), plan.parts);
    if (is_for_metis(graph, plan, staged.node_size, result)) {
        const MetisOptions options{parameters.text("method") == "recursive", parameters.real("imbalance"),
                                   static_cast<Index>(parameters.integer("seed"))};
        MetisGraph coupled = metis_graph(graph, node_weights(staged, parameters, context), stage_name);
        note_count(result, "edge cut by METIS",
                   partition_with_metis(std::move(coupled), plan.parts, options, stage_name, part_of));
        fit_to_plan(graph, plan, staged.node_size, part_of, result);
    }
    finish_partition(staged, parameters, graph, plan, part_of, result);
    return result;
}

std::vector<ParameterDeclaration> parameters() {
    std::vector<ParameterDeclaration> list = plan_parameters("METIS");
    list.insert(list.begin() + 1, {.name = "method",
                                   .type = ParameterType::choice,
                                   .default_value = "kway",
                                   .words = {"kway", "recursive"},
                                   .help = "multilevel k-way partitioning, or multilevel recursive bisection"});
    list.push_back(
        {.name = "imbalance",
         .type = ParameterType::real,
         .default_value = 1.03,
         .minimum = 1.001,
         .maximum = 2.0,
         .help = "heaviest part over the mean that METIS may leave, at least one row more; rows are moved to fit after it"});
    list.push_back(keep_parameter());
    list.push_back({.name = "seed",
                    .type = ParameterType::integer,
                    .default_value = std::int64_t{1},
                    .minimum = 0,
                    .maximum = 2147483647,
                    .help = "start of METIS's random numbers"});
    return list;
}

}  // namespace

StageEntry metis_partition_stage() {
    return {.name = "metis_partition",
            .summary = "Partition the graph of A + A^T with METIS, gather the rows of each part, and make every part fit",
            .source = "METIS: Karypis, Kumar (1998); number and size of the parts: EHYB section 3.3, eq. 1-2",
            .parameters = parameters(),
            .contract = contract_of_partition,
            .run = run};
}

}  // namespace workbench
