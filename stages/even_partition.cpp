#include "stages/even_partition.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "stages/refine_partition.hpp"
#include "stages/weighted_graph.hpp"

namespace workbench {
namespace {

using Range = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<Index>>;

/// Each moves vertices by what they weighed before it: the third leaves little to be evened out.
constexpr int most_turns = 3;

double heaviest_above(const std::vector<Offset>& weights, const std::vector<Index>& part_of, Index parts) {
    std::vector<Offset> of_part(parts, 0);
    for (std::size_t vertex = 0; vertex < weights.size(); ++vertex) of_part[part_of[vertex]] += weights[vertex];
    const auto total = static_cast<double>(std::accumulate(of_part.begin(), of_part.end(), Offset{0}));
    const Offset heaviest = *std::max_element(of_part.begin(), of_part.end());
    return total > 0 ? static_cast<double>(heaviest) * parts / total - 1 : 0;
}

}  // namespace

std::vector<Offset> weights_with_mirrors_once(const Graph& graph, const std::vector<Offset>& weights,
                                              const std::vector<Index>& part_of) {
    std::vector<Offset> result(weights.size(), 0);
    Kokkos::parallel_for("weights_with_mirrors_once", Range(0, graph.vertex_count()), [&](Index vertex) {
        const auto neighbours = graph.neighbours_of(vertex);
        if (neighbours.empty()) return;
        const auto inside =
            std::count_if(neighbours.begin(), neighbours.end(), [&](Index other) { return part_of[other] == part_of[vertex]; });
        const auto blocks = static_cast<Offset>(neighbours.size()) + 1;  // with its own
        result[vertex] = weights[vertex] - weights[vertex] * (inside + 1) / (2 * blocks);
    });
    return result;
}

EvenedPartition even_out_mirrors_once(const Graph& graph, const std::vector<Offset>& weights, Index parts, double imbalance,
                                      std::uint64_t seed, std::vector<Index>& part_of) {
    UnitGraph weighed{graph, weights_with_mirrors_once(graph, weights, part_of)};
    Partition best{part_of, parts, 0, {}};
    measure_border(weighed, best);
    double least = heaviest_above(weighed.vertex_weights, part_of, parts);
    for (int turn = 0; turn < most_turns && least > imbalance - 1; ++turn) {
        Partition next = best;
        const Offset total = std::accumulate(weighed.vertex_weights.begin(), weighed.vertex_weights.end(), Offset{0});
        const auto heaviest = static_cast<Offset>(imbalance * static_cast<double>(total) / parts) + 1;
        refine_partition(weighed, next, heaviest, {.least_gain = 0.002}, seed + turn);
        weighed.vertex_weights = weights_with_mirrors_once(graph, weights, next.part_of);
        const double above = heaviest_above(weighed.vertex_weights, next.part_of, parts);
        if (above >= least) break;
        least = above;
        best = std::move(next);
    }
    part_of = std::move(best.part_of);
    return {best.cut, least};
}

}  // namespace workbench
