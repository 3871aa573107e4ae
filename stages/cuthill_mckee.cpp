// Cuthill-McKee and reverse Cuthill-McKee: number the vertices of the graph of A + A^T by levels, for a small bandwidth.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "stages/cuthill_mckee_order.hpp"
#include "stages/order.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

StageResult run_cuthill_mckee(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    const bool reversed = parameters.text("variant") == "reverse";
    CuthillMcKeeOrder found = cuthill_mckee_order(adjacency_graph(staged.matrix, staged.node_size));
    if (reversed) std::reverse(found.old_of_new.begin(), found.old_of_new.end());
    return {.change = {.order = order_of_nodes(std::move(found.old_of_new), staged.node_size)},
            .notes = {{"connected components", std::to_string(found.components)}}};
}

}  // namespace

StageEntry cuthill_mckee_stage() {
    return {
        .name = "cuthill_mckee",
        .summary = "Reduce the bandwidth: number rows and columns by a breadth-first search of the graph of A + A^T",
        .source =
            "Cuthill, McKee, 'Reducing the bandwidth of sparse symmetric matrices', ACM National Conference 1969; reversed: "
            "George, 'Computer implementation of the finite element method', Stanford 1971; start: George, Liu, 'An "
            "implementation of a pseudoperipheral node finder', ACM TOMS 1979; in parallel: Karantasis, Lenharth, Nguyen, "
            "Garzaran, Pingali, 'Parallelization of reordering algorithms for bandwidth and wavefront reduction', SC 2014",
        .parameters = {choice_parameter("variant", by_default("reverse"), {"reverse", "plain"},
                                        "reverse the order, which keeps the bandwidth and never increases the profile"),
                       storage_parameter()},
        .contract = contract_of_symmetric_order,
        .orders_all = true,
        .run = order_or_storage<run_cuthill_mckee>,
        .on_device = [](const Parameters& parameters) -> std::optional<DeviceStep> {
            if (parameters.has("share")) return std::nullopt;
            return OrderByLevels{parameters.text("variant") == "reverse"};
        },
        .foresee = foresee_gathered_rows,
        .nanoseconds_per_nonzero = 30};
}

}  // namespace workbench
