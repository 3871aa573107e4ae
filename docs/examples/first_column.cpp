// Sorts rows by the column of their first nonzero, so that rows that begin at the same place of x are neighbours.
#include <utility>

#include "stages/order.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

StageResult run_first_column(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    const std::int64_t width = parameters.integer("width");
    const Index nodes = staged.matrix.rows / staged.node_size;
    std::vector<Index> keys(nodes, 0);
    for (Index node = 0; node < nodes; ++node) {
        const auto columns = staged.matrix.row_columns(node * staged.node_size);
        if (!columns.empty()) keys[node] = static_cast<Index>(columns.front() / width);
    }
    std::vector<Index> order = all_of(nodes);
    stable_sort_by(order, keys);
    return {.change = {.order = order_of_nodes(std::move(order), staged.node_size, Acts::rows)}};
}

}  // namespace

StageEntry first_column_stage() {
    return {.name = "first_column",
            .summary = "Sort rows by the column of their first nonzero (stable)",
            .source = "docs/new_stage.md, which walks through it",
            .parameters = {integer_parameter("width", by_default(1), at_least(1, "columns"), "columns that count as one")},
            .contract = [](const Parameters&) { return StageContract{.acts = Acts::rows}; },
            .run = run_first_column};
}

}  // namespace workbench
