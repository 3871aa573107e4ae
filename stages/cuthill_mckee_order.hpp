// The Cuthill-McKee order, computed by all threads.
#pragma once

#include <vector>

#include "stages/graph.hpp"
#include "stages/levels.hpp"

namespace workbench {

struct CuthillMcKeeOrder {
    std::vector<Index> old_of_new;  // [vertices]
    Index components = 0;
};

/// The start vertex in each connected component: a pseudo-peripheral vertex, or the first vertex, which needs no search.
enum class SearchStart { pseudo_peripheral, first_vertex };

/// Numbers the vertices of each connected component by levels: by the place of their first numbered neighbour, then by degree,
/// then by vertex number. Components are in the order of their first vertices. Levels of least_for_threads edge ends or more
/// are processed by all threads; the order is that of a serial breadth-first search. Linear in vertices and edges, except for
/// sorting the vertices that share a parent. Source: Cuthill, McKee (1969); George, Liu (1979); levels in parallel after
/// Karantasis, Lenharth, Nguyen, Garzaran, Pingali, "Parallelization of reordering algorithms for bandwidth and wavefront
/// reduction", SC 2014.
[[nodiscard]] CuthillMcKeeOrder cuthill_mckee_order(const Graph& graph, SearchStart start = SearchStart::pseudo_peripheral,
                                                    Offset least_for_threads = least_ends_for_threads);

}  // namespace workbench
