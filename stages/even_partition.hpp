// Evens out a partition whose parts' weights depend on the partition itself.
#pragma once

#include <cstdint>
#include <vector>

#include "stages/graph.hpp"

namespace workbench {

/// What the parts weigh where a layout stores one of two entries that mirror each other within a part (halo): a vertex weighs
/// half as much for itself and for its neighbours in its part. weights: [vertices] with both stored. Vertices without edges
/// weigh nothing.
[[nodiscard]] std::vector<Offset> weights_with_mirrors_once(const Graph& graph, const std::vector<Offset>& weights,
                                                            const std::vector<Index>& part_of);

struct EvenedPartition {
    Offset cut = 0;    // edges between parts
    double above = 0;  // what the heaviest part weighs beyond the mean, as a share of it
};

/// Moves vertices between the parts until none weighs more than `imbalance` times the mean, weighed with mirrors once, or as
/// near to that as some turns bring it; with as few edges between the parts as it finds. The same for any number of threads.
EvenedPartition even_out_mirrors_once(const Graph& graph, const std::vector<Offset>& weights, Index parts, double imbalance,
                                      std::uint64_t seed, std::vector<Index>& part_of);

}  // namespace workbench
