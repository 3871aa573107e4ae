// Graph partitioning: gathers rows that read the same entries of x in parts that fit into shared memory.
#include <string_view>
#include <utility>

#include "stages/metis_graph.hpp"
#include "stages/parameters.hpp"
#include "stages/partition_stage.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

StageResult run_metis_partition(const StagedMatrix& staged, const Parameters& parameters, const StageContext& context) {
    constexpr std::string_view stage = "metis_partition";
    Partitioning partitioning(staged, parameters, context, stage);
    return partitioning.partition_by([&] {
        const MetisOptions options{.recursive = parameters.text("method") == "recursive",
                                   .imbalance = parameters.real("imbalance"),
                                   .seed = static_cast<Index>(parameters.integer("seed"))};
        FoundPartition found = partition_with_metis(metis_graph(partitioning.graph(), partitioning.weights(), stage),
                                                    partitioning.plan().parts, options);
        partitioning.note("edge cut by METIS", found.cut);
        return std::move(found.part_of);
    });
}

}  // namespace

StageEntry metis_partition_stage() {
    return {.name = "metis_partition",
            .summary = "Partition the graph of A + A^T with METIS, gather the rows of each part, and make every part fit",
            .source =
                "library: METIS (Karypis, Kumar, 'A fast and high quality multilevel scheme for partitioning irregular "
                "graphs', SIAM "
                "J. Scientific Computing 1998); number and size of the parts: Chen, 'Explicit caching HYB: a new "
                "high-performance SpMV "
                "framework on GPGPU' (EHYB), arXiv 2022, section 3.3, eq. 1-2",
            .parameters = partition_parameters({choice_parameter("method", by_default("kway"), {"kway", "recursive"},
                                                                 "multilevel k-way partitioning, or recursive bisection"),
                                                imbalance_parameter(), seed_parameter()}),
            .contract = contract_of_partition,
            .orders_all = true,
            .run = run_metis_partition,
            .foresee = foresee_partition,
            .nanoseconds_per_nonzero = 120};
}

}  // namespace workbench
