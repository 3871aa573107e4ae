// Refines a graph partition in parallel: fewer edges between parts, and no part too heavy.
#pragma once

#include <cstdint>
#include <vector>

#include "stages/weighted_graph.hpp"

namespace workbench {

/// The effort of a refinement.
struct Refinement {
    double descent = 0.25;  // the maximum loss of a move, relative to the weight of the vertex's edges within its part
    int patience = 3;       // turns without an improvement until it ends
    int most_turns = 12;
    double least_gain = 0;  // a turn that reduces the cut by less, relative to the cut, is the last
};

struct Partition {
    std::vector<Index> part_of = {};  // [vertices] 0 .. parts - 1
    Index parts = 1;
    Offset cut = 0;                 // the sum of the weights of the edges between parts
    std::vector<char> border = {};  // [vertices] 0: all neighbours are in the same part
};

/// Moves vertices between parts. In each turn every vertex on a border chooses a part, based on the current partition. Moves
/// are made if they pay off together with the better moves of the neighbours, and if the part can take the weight. Parts that
/// weigh more than `heaviest` evict the vertices whose move costs least. The result is the best partition of all turns: the one
/// with the lightest cut among those without an overweight part, otherwise the one with the least excess weight. In parallel,
/// with the same result for any number of threads. Source: Gilbert, Madduri, Boman, Rajamanickam, "Jet: multilevel graph
/// partitioning on graphics processing units", SIAM J. Scientific Computing 2024, where moves do not consider the weight of the
/// part.
template <typename AnyGraph>
void refine_partition(const AnyGraph& graph, Partition& partition, Offset heaviest, const Refinement& refinement,
                      std::uint64_t seed);

/// Computes the cut, and the vertices on borders.
template <typename AnyGraph>
void measure_border(const AnyGraph& graph, Partition& partition);

}  // namespace workbench
