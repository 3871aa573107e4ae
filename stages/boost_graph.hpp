// A Graph as Boost.Graph sees it, without a copy: an edge is a position in Graph::neighbours.
#pragma once

#include <boost/graph/graph_traits.hpp>
#include <boost/graph/properties.hpp>
#include <boost/iterator/counting_iterator.hpp>
#include <boost/property_map/property_map.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "stages/graph.hpp"

namespace workbench {

struct BoostGraph {
    using vertex_descriptor = Index;
    using edge_descriptor = Offset;
    using directed_category = boost::directed_tag;
    using edge_parallel_category = boost::disallow_parallel_edge_tag;
    struct traversal_category : boost::incidence_graph_tag, boost::adjacency_graph_tag, boost::vertex_list_graph_tag {};
    using vertex_iterator = boost::counting_iterator<Index>;
    using out_edge_iterator = boost::counting_iterator<Offset>;
    using adjacency_iterator = const Index*;
    using vertices_size_type = Index;
    using edges_size_type = Offset;
    using degree_size_type = std::size_t;

    const Graph& graph;
};

inline std::pair<BoostGraph::vertex_iterator, BoostGraph::vertex_iterator> vertices(const BoostGraph& g) {
    return {BoostGraph::vertex_iterator(0), BoostGraph::vertex_iterator(g.graph.vertex_count())};
}
inline Index num_vertices(const BoostGraph& g) { return g.graph.vertex_count(); }

inline std::pair<BoostGraph::out_edge_iterator, BoostGraph::out_edge_iterator> out_edges(Index vertex, const BoostGraph& g) {
    return {BoostGraph::out_edge_iterator(g.graph.offsets[vertex]), BoostGraph::out_edge_iterator(g.graph.offsets[vertex + 1])};
}
inline std::size_t out_degree(Index vertex, const BoostGraph& g) { return static_cast<std::size_t>(g.graph.degree(vertex)); }

inline Index target(Offset edge, const BoostGraph& g) { return g.graph.neighbours[edge]; }
inline Index source(Offset edge, const BoostGraph& g) {
    return static_cast<Index>(std::upper_bound(g.graph.offsets.begin(), g.graph.offsets.end(), edge) - g.graph.offsets.begin() -
                              1);
}

inline std::pair<const Index*, const Index*> adjacent_vertices(Index vertex, const BoostGraph& g) {
    const auto neighbours = g.graph.neighbours_of(vertex);
    return {neighbours.data(), neighbours.data() + neighbours.size()};
}

inline boost::typed_identity_property_map<Index> get(boost::vertex_index_t, const BoostGraph&) { return {}; }

/// A list with a value for each vertex as a property map.
template <typename Value>
auto property_of_vertices(std::vector<Value>& values) {
    return boost::make_iterator_property_map(values.begin(), boost::typed_identity_property_map<Index>());
}

}  // namespace workbench

template <>
struct boost::property_map<workbench::BoostGraph, boost::vertex_index_t> {
    using type = boost::typed_identity_property_map<workbench::Index>;
    using const_type = type;
};
