// A random order: the control that shows what any order at all is worth.
#include <cstdint>

#include "pipeline/matrix/random.hpp"
#include "stages/order.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

StageContract contract(const Parameters& parameters) {
    const Acts acts = acts_named(parameters.text("apply"));
    return {.needs = {.square = acts == Acts::symmetric}, .acts = acts};
}

StageResult run(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    const Acts acts = acts_named(parameters.text("apply"));
    const Index length = acts == Acts::columns ? staged.matrix.columns : staged.matrix.rows;
    const Permutation nodes =
        random_permutation(length / staged.node_size, static_cast<std::uint64_t>(parameters.integer("seed")));
    return {.change = {.order = OrderChange{acts, expand(nodes, staged.node_size)}}};
}

}  // namespace

StageEntry random_order_stage() {
    return {.name = "random_order",
            .summary = "Shuffle rows, columns or both alike: the control that a good order is measured against",
            .source = "Fisher-Yates shuffle on SplitMix64, the same on every machine",
            .parameters = {{.name = "seed",
                            .type = ParameterType::integer,
                            .default_value = std::int64_t{1},
                            .minimum = 0,
                            .help = "start of the generator: another seed gives another order"},
                           {.name = "apply",
                            .type = ParameterType::choice,
                            .default_value = "symmetric",
                            .words = {"symmetric", "rows", "columns"},
                            .help = "what the order acts on: rows and columns alike, rows alone, or columns alone"}},
            .contract = contract,
            .reads_entries = [](const Parameters&) { return false; },
            .run = run};
}

}  // namespace workbench
