// The order of Cuthill and McKee, found by all threads.
#pragma once

#include <vector>

#include "stages/graph.hpp"

namespace workbench {

struct CuthillMcKeeOrder {
    std::vector<Index> old_of_new;  // [vertices]
    Index components = 0;
};

/// Where the search begins in each connected component: at a vertex at its rim, or at its first, which need not be looked for.
enum class SearchStart { rim, first_vertex };

/// Of edges, in a level: one with about fewer is done by one thread before several have begun. On 16 cores waking them takes
/// some 100 us, in which one thread follows 20,000 edges; levels of meshes of two dimensions have about as many.
inline constexpr Offset least_ends_for_threads = 65536;

/// Numbers the vertices of each connected component level by level: by the place of the first neighbour that has one, then by
/// degree, then by number. Components come in the order of their first vertices. The rim is found after George and Liu: from
/// the component's first vertex to one of least degree among those farthest from it, and on from there while the distance
/// grows. Levels of least_for_threads ends of edges and more are handled by all threads; the order is the same for any number
/// of them, and that of a breadth-first search with one. Linear in vertices and edges, but for sorting the vertices that have
/// one parent, however many components there are. Source: Cuthill, McKee (1969); George, Liu (1979); level by level in parallel
/// as by Karantasis, Lenharth, Nguyen, Garzaran, Pingali, "Parallelization of reordering algorithms for bandwidth and wavefront
/// reduction" (2014).
[[nodiscard]] CuthillMcKeeOrder cuthill_mckee_order(const Graph& graph, SearchStart start = SearchStart::rim,
                                                    Offset least_for_threads = least_ends_for_threads);

}  // namespace workbench
