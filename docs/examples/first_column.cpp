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
    const Permutation of_nodes = Permutation::from_old_of_new(std::move(order));
    return {.change = {.order = OrderChange{Acts::rows, expand(of_nodes, staged.node_size)}}};
}

}  // namespace

StageEntry first_column_stage() {
    return {.name = "first_column",
            .summary = "Sort rows by the column of their first nonzero (stable)",
            .source = "docs/new_stage.md, which walks through it",
            .parameters = {{.name = "width",
                            .type = ParameterType::integer,
                            .default_value = std::int64_t{1},
                            .minimum = 1,
                            .unit = "columns",
                            .help = "columns that count as one place"}},
            .contract = [](const Parameters&) { return StageContract{.acts = Acts::rows}; },
            .run = run_first_column};
}

}  // namespace workbench
