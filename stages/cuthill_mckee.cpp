// Cuthill-McKee and reverse Cuthill-McKee: number the vertices of the graph of A + A^T level by level, so that the entries
// gather near the diagonal.
#include <algorithm>
#include <string>
#include <utility>

#include "stages/cuthill_mckee_order.hpp"
#include "stages/order.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

StageResult run(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    CuthillMcKeeOrder found = cuthill_mckee_order(adjacency_graph(staged.matrix, staged.node_size));
    if (parameters.text("variant") == "reverse") std::reverse(found.old_of_new.begin(), found.old_of_new.end());
    const Permutation nodes = Permutation::from_old_of_new(std::move(found.old_of_new));
    return {.change = {.order = OrderChange{Acts::symmetric, expand(nodes, staged.node_size)}},
            .notes = {{"connected components", std::to_string(found.components)}}};
}

}  // namespace

StageEntry cuthill_mckee_stage() {
    return {.name = "cuthill_mckee",
            .summary = "Reduce the bandwidth: number rows and columns by a breadth-first search in the graph of A + A^T",
            .source =
                "Cuthill, McKee, 'Reducing the bandwidth of sparse symmetric matrices' (1969); reversed by George (1971); "
                "start by George, Liu (1979); by levels in parallel after Karantasis et al. (2014)",
            .parameters = {{.name = "variant",
                            .type = ParameterType::choice,
                            .default_value = "reverse",
                            .words = {"reverse", "plain"},
                            .help = "reverse: turn the order round, which keeps the bandwidth and can only lower the profile"}},
            .contract = [](const Parameters&) { return StageContract{.needs = {.square = true}, .acts = Acts::symmetric}; },
            .run = run};
}

}  // namespace workbench
