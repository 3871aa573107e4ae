// Improves a partition of a graph in parallel: fewer edges between parts, none of them too heavy.
#pragma once

#include <cstdint>
#include <vector>

#include "stages/weighted_graph.hpp"

namespace workbench {

/// How hard to try.
struct Refinement {
    double descent = 0.25;  // a vertex may ask to move at a loss up to this share of its edges within its part
    int patience = 3;       // so many turns without a better partition end it
    int most_turns = 12;
    double least_gain = 0;  // a turn that makes the cut smaller by less than this share of it is the last
};

/// A partition of a graph, and what is known of it.
struct Partition {
    std::vector<Index> part_of;  // [vertices] 0 .. parts - 1
    Index parts = 1;
    Offset cut = 0;            // the sum of the weights of the edges between parts
    std::vector<char> border;  // [vertices] 0: all neighbours are in its part
};

/// Moves vertices between the parts. In each turn every vertex on a border chooses a part, from the partition as it is; those
/// moves are made that pay when the better ones among the neighbours' are made too, and for which there is room; and parts that
/// weigh more than `heaviest` send away the vertices that cost least. The best partition that was met is left behind: of those
/// where no part is too heavy the one with the lightest cut, otherwise the one with the least excess. In parallel, the same for
/// any number of threads. Source: Gilbert, Madduri, Boman, Rajamanickam, "Jet: multilevel graph partitioning on graphics
/// processing units" (2024); there moves do not ask for room.
template <typename AnyGraph>
void refine_partition(const AnyGraph& graph, Partition& partition, Offset heaviest, const Refinement& refinement,
                      std::uint64_t seed);

/// Measures the cut, and which vertices are on a border.
template <typename AnyGraph>
void measure_border(const AnyGraph& graph, Partition& partition);

}  // namespace workbench
