// A random order, as the control experiment.
#include <cstdint>

#include "core/matrix/random.hpp"
#include "stages/order.hpp"
#include "stages/parameters.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

StageResult run_random_order(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    const Acts acts = axes_of(parameters);
    const Index length = acts == Acts::columns ? staged.matrix.columns : staged.matrix.rows;
    const Permutation nodes =
        random_permutation(length / staged.node_size, static_cast<std::uint64_t>(parameters.integer("seed")));
    return {.change = {.order = OrderChange{acts, expand(nodes, staged.node_size)}}};
}

}  // namespace

StageEntry random_order_stage() {
    return {
        .name = "random_order",
        .summary = "Shuffle rows, columns, or both alike: the control experiment for other orders",
        .source =
            "Fisher-Yates shuffle: Durstenfeld, 'Algorithm 235: random permutation', Communications of the ACM 1964; random "
            "numbers: SplitMix64 of Steele, Lea, Flood, 'Fast splittable pseudorandom number generators', OOPSLA 2014",
        .parameters = {seed_parameter(at_least(0)), apply_parameter(by_default("symmetric"), {"symmetric", "rows", "columns"})},
        .contract = contract_of_order,
        .orders_all = true,
        .is_control = true,
        .reads_entries = [](const Parameters&) { return false; },
        .run = run_random_order,
        .foresee = foresee_scattered_rows,
        .nanoseconds_per_nonzero = 8};
}

}  // namespace workbench
