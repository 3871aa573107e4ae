// A random order: the control that shows what any order at all is worth.
#include <cstdint>
#include <limits>
#include <utility>

#include "stages/order.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

/// The generator SplitMix64 (Steele, Lea, Flood 2014): unlike the distributions of the standard library, the same everywhere.
struct SplitMix64 {
    std::uint64_t state;

    std::uint64_t next() {
        std::uint64_t z = state += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }

    /// Uniform in 0 .. bound - 1: numbers of the last, incomplete round of `bound` are drawn again.
    std::uint64_t below(std::uint64_t bound) {
        constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
        const std::uint64_t end_of_rounds = largest - largest % bound;
        std::uint64_t drawn = next();
        while (drawn >= end_of_rounds) drawn = next();
        return drawn % bound;
    }
};

Permutation shuffled(Index size, std::uint64_t seed) {
    SplitMix64 random{seed};
    std::vector<Index> list = all_of(size);
    for (Index left = size; left > 1; --left) std::swap(list[left - 1], list[random.below(left)]);  // Fisher and Yates
    return Permutation::from_old_of_new(std::move(list));
}

StageContract contract(const Parameters& parameters) {
    const Acts acts = acts_named(parameters.text("apply"));
    return {.needs = {.square = acts == Acts::symmetric}, .acts = acts};
}

StageResult run(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    const Acts acts = acts_named(parameters.text("apply"));
    const Index length = acts == Acts::columns ? staged.matrix.columns : staged.matrix.rows;
    const Permutation nodes = shuffled(length / staged.node_size, static_cast<std::uint64_t>(parameters.integer("seed")));
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
            .run = run};
}

}  // namespace workbench
