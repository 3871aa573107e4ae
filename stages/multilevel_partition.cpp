// Parallel graph partitioning: the partitions of metis_partition, in less time.
#include <string>
#include <string_view>
#include <utility>

#include "stages/multilevel.hpp"
#include "stages/parameters.hpp"
#include "stages/partition_stage.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

StageResult run_multilevel_partition(const StagedMatrix& staged, const Parameters& parameters, const StageContext& context) {
    constexpr std::string_view stage = "multilevel_partition";
    Partitioning partitioning(staged, parameters, context, stage);
    return partitioning.partition_by([&] {
        const MultilevelOptions options{
            .metis = {.imbalance = parameters.real("imbalance"), .seed = static_cast<Index>(parameters.integer("seed"))},
            .vertices_a_part = static_cast<Index>(parameters.integer("vertices_a_part")),
            .least_vertices = parameters.integer("least_vertices")};
        FoundPartition found =
            partition_in_levels(partitioning.graph(), partitioning.weights(), partitioning.plan().parts, options, stage);
        std::string levels;
        for (const Index vertices : found.levels) levels += (levels.empty() ? "" : ", ") + std::to_string(vertices);
        partitioning.note("vertices by level", levels);
        partitioning.note("edge cut before fitting", found.cut);
        return std::move(found.part_of);
    });
}

}  // namespace

StageEntry multilevel_partition_stage() {
    return {
        .name = "multilevel_partition",
        .summary = "Partition like metis_partition, but in parallel: all threads coarsen and refine, METIS partitions the rest",
        .source =
            "Karypis, Kumar, 'Multilevel k-way partitioning scheme for irregular graphs', J. Parallel and Distributed "
            "Computing "
            "1998; leaders: Bell, Dalton, Olson, 'Exposing fine-grained parallelism in algebraic multigrid methods', SIAM J. "
            "Scientific Computing 2012; clusters: Meyerhenke, Sanders, Schulz, 'Partitioning complex networks via "
            "size-constrained "
            "clustering', SEA 2014, and Gottesbueren, Hamann, 'Deterministic parallel hypergraph partitioning', Euro-Par 2022; "
            "refinement: Gilbert, Madduri, Boman, Rajamanickam, 'Jet: multilevel graph partitioning on graphics processing "
            "units', "
            "SIAM J. Scientific Computing 2024; number and size of the parts: Chen (EHYB), arXiv 2022, section 3.3, eq. 1-2",
        .parameters = partition_parameters(
            {imbalance_parameter(), seed_parameter(),
             integer_parameter("vertices_a_part", by_default(20), between(2, 10000),
                               "approximate number of vertices per part of the coarsest graph"),
             integer_parameter(
                 "least_vertices", by_default(2000), between(1, largest_index),
                 "minimum size of the coarsest graph; METIS alone partitions graphs of up to twice the coarsest size")}),
        .contract = contract_of_partition,
        .orders_all = true,
        .run = run_multilevel_partition,
        .foresee = foresee_partition,
        .nanoseconds_per_nonzero = 18};
}

}  // namespace workbench
