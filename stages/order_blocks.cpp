// Cheap partitions: an order that numbers neighbours close to each other, cut into equal pieces.
#include <algorithm>
#include <optional>
#include <utility>

#include "stages/cuthill_mckee_order.hpp"
#include "stages/partition_stage.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

StageResult cut_order(Partitioning partitioning, SearchStart start) {
    std::vector<Index> order = cuthill_mckee_order(partitioning.graph(), start).old_of_new;
    if (start == SearchStart::pseudo_peripheral) std::reverse(order.begin(), order.end());
    std::vector<Index> begins = equal_pieces(order, partitioning.weights(), partitioning.plan());
    return partitioning.cut(std::move(order), std::move(begins));
}

StageResult run_rcm_blocks(const StagedMatrix& staged, const Parameters& parameters, const StageContext& context) {
    return cut_order({staged, parameters, context, "rcm_blocks"}, SearchStart::pseudo_peripheral);
}

StageResult run_bfs_blocks(const StagedMatrix& staged, const Parameters& parameters, const StageContext& context) {
    return cut_order({staged, parameters, context, "bfs_blocks"}, SearchStart::first_vertex);
}

}  // namespace

StageEntry rcm_blocks_stage() {
    return {
        .name = "rcm_blocks",
        .summary = "Order by reverse Cuthill-McKee, and cut the order into equal pieces: a cheap partition",
        .source =
            "Cuthill, McKee, 'Reducing the bandwidth of sparse symmetric matrices', ACM National Conference 1969; reversed: "
            "George, 'Computer implementation of the finite element method', Stanford 1971; number and size of the parts: Chen "
            "(EHYB), arXiv 2022, section 3.3, eq. 1-2",
        .parameters = partition_parameters(),
        .contract = contract_of_partition,
        .orders_all = true,
        .run = run_rcm_blocks,
        .on_device = [](const Parameters& parameters) -> std::optional<DeviceStep> {
            return CutLevels{parameters, "rcm_blocks", keeps_partition(parameters)};
        },
        .foresee = foresee_partition,
        .nanoseconds_per_nonzero = 25};
}

StageEntry bfs_blocks_stage() {
    return {
        .name = "bfs_blocks",
        .summary = "Order by a breadth-first search from the first row of each component, and cut the order into equal pieces",
        .source =
            "level structures: Cuthill, McKee, 'Reducing the bandwidth of sparse symmetric matrices', ACM National Conference "
            "1969; number and size of the parts: Chen (EHYB), arXiv 2022, section 3.3, eq. 1-2",
        .parameters = partition_parameters(),
        .contract = contract_of_partition,
        .orders_all = true,
        .run = run_bfs_blocks,
        .foresee = foresee_partition,
        .nanoseconds_per_nonzero = 25};
}

}  // namespace workbench
