// Graph partitioning by many threads around METIS: the partitions of metis_partition, sooner.
#include <string>
#include <utility>

#include "stages/multilevel.hpp"
#include "stages/partition_stage.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

constexpr std::string_view stage_name = "multilevel_partition";

StageResult run(const StagedMatrix& staged, const Parameters& parameters, const StageContext& context) {
    const PartitionPlan plan = plan_parts(staged, parameters, context, stage_name);
    const Graph graph = adjacency_graph(staged.matrix, staged.node_size);
    StageResult result;
    note_plan(result, plan, staged.node_size);
    std::vector<Index> part_of = consecutive_parts(graph.vertex_count(), plan.parts);
    if (is_for_metis(graph, plan, staged.node_size, result)) {
        MultilevelOptions options;
        options.metis.imbalance = parameters.real("imbalance");
        options.metis.seed = static_cast<Index>(parameters.integer("seed"));
        options.vertices_a_part = static_cast<Index>(parameters.integer("vertices_a_part"));
        options.least_vertices = parameters.integer("least_vertices");
        const std::vector<Offset> weights = node_weights(staged, parameters, context);
        const MultilevelResult found = partition_in_levels(graph, weights, plan.parts, options, stage_name, part_of);
        std::string levels;
        for (const Index vertices : found.levels) levels += (levels.empty() ? "" : ", ") + std::to_string(vertices);
        result.notes.emplace_back("vertices by level", levels);
        note_count(result, "edge cut before fitting", found.cut);
        fit_to_plan(graph, plan, staged.node_size, part_of, result);
    }
    finish_partition(staged, parameters, graph, plan, part_of, result);
    return result;
}

std::vector<ParameterDeclaration> parameters() {
    std::vector<ParameterDeclaration> list = plan_parameters("the partition");
    list.push_back({.name = "imbalance",
                    .type = ParameterType::real,
                    .default_value = 1.03,
                    .minimum = 1.001,
                    .maximum = 2.0,
                    .help = "heaviest part over the mean that is left before rows are moved to fit, at least one row more"});
    list.push_back(keep_parameter());
    list.push_back({.name = "seed",
                    .type = ParameterType::integer,
                    .default_value = std::int64_t{1},
                    .minimum = 0,
                    .maximum = 2147483647,
                    .help = "start of random numbers, METIS's too"});
    list.push_back({.name = "vertices_a_part",
                    .type = ParameterType::integer,
                    .default_value = std::int64_t{20},
                    .minimum = 2,
                    .maximum = 10000,
                    .help = "the graph is made coarser until METIS has about so many vertices for each part"});
    list.push_back(
        {.name = "least_vertices",
         .type = ParameterType::integer,
         .default_value = std::int64_t{2000},
         .minimum = 1,
         .maximum = 2147483647,
         .help = "METIS gets no fewer vertices; a graph of up to twice as many, or as vertices_a_part gives, is its alone"});
    return list;
}

}  // namespace

StageEntry multilevel_partition_stage() {
    return {
        .name = "multilevel_partition",
        .summary = "Partition as metis_partition does, in parallel: METIS partitions a coarser graph, all threads do the rest",
        .source =
            "Karypis, Kumar (1998); leaders: Bell, Dalton, Olson (2012); clusters: Gottesbueren, Hamann, Sanders, Wagner "
            "(2022); refinement: Gilbert, Madduri, Boman, Rajamanickam (2024)",
        .parameters = parameters(),
        .contract = contract_of_partition,
        .run = run};
}

}  // namespace workbench
