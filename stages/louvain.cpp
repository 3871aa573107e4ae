// Louvain's communities: vertices move to the neighbouring community that increases the modularity most, communities become
// the vertices of a smaller graph, and so on. Rows of a community become neighbours, on every level.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "stages/coarsen_graph.hpp"
#include "stages/graph.hpp"
#include "stages/order.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

/// Numbers the communities in the order of their first vertices.
void renumber(Clusters& communities) {
    std::vector<Index> number(communities.of.size(), -1);
    communities.count = 0;
    for (Index& community : communities.of) {
        if (number[community] < 0) number[community] = communities.count++;
        community = number[community];
    }
}

/// A sweep over all vertices that gains less modularity is the last one of a level.
constexpr double least_gain = 1e-6;

/// Moves vertices, in the order of their numbers, as long as a sweep gains modularity. The weight of a vertex is its strength
/// d, the sum of the degrees of what it consists of. To move v to community c gains w(v, c) / 2m - d(v) d(c) / (2m)^2, here
/// times (2m)^2, where 2m = `all` is the sum of all degrees and d(c) leaves out v. These are integers, so that every machine
/// finds the same. Of equal gains a vertex keeps its community, or takes that of the smallest number.
template <typename AnyGraph>
Clusters move_vertices(const AnyGraph& graph, Offset all) {
    Clusters communities{all_of(graph.vertex_count()), graph.vertex_count()};
    std::vector<Offset> strengths = graph.vertex_weights;  // of communities
    SparseSums weights;                                    // of the edges from a vertex to communities
    const auto whole = static_cast<double>(std::max<Offset>(all, 1));
    for (double gained = 1; gained >= least_gain;) {
        gained = 0;
        for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) {
            const auto edges = graph.edges_of(vertex);
            const Offset strength = graph.vertex_weights[vertex];
            const Index own = communities.of[vertex];
            weights.start(edges.size() + 1);
            weights.add(own, 0);
            for (const WeightedEdge edge : edges) weights.add(communities.of[edge.to], edge.weight);
            strengths[own] -= strength;
            Index best = own;
            Offset most = 0;
            Offset stayed = 0;
            weights.visit([&](Index community, Offset weight) {  // its own first
                const Offset gain = weight * all - strength * strengths[community];
                const bool better = gain > most || (gain == most && best != own && community < best);
                if (community != own && !better) return;
                best = community;
                most = gain;
                if (community == own) stayed = gain;
            });
            strengths[best] += strength;
            communities.of[vertex] = best;
            gained += 2 * static_cast<double>(most - stayed) / whole / whole;
        }
    }
    renumber(communities);
    return communities;
}

/// The sum over communities c of inner(c) / 2m - (d(c) / 2m)^2.
double modularity(const WeightedGraph& communities, Offset all) {
    double sum = 0;
    for (Index c = 0; c < communities.vertex_count(); ++c) {
        Offset inner = communities.vertex_weights[c];
        for (const WeightedEdge edge : communities.edges_of(c)) inner -= edge.weight;
        const double part = static_cast<double>(communities.vertex_weights[c]) / static_cast<double>(all);
        sum += static_cast<double>(inner) / static_cast<double>(all) - part * part;
    }
    return sum;
}

/// The vertices of the first level. Those of a community are together on every level, otherwise in their order.
std::vector<Index> order_by_levels(const std::vector<Clusters>& levels) {
    std::vector<Index> order = all_of(levels.back().count);
    for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
        std::vector<Index> place(level->count);
        for (Index i = 0; i < level->count; ++i) place[order[i]] = i;
        std::vector<Index> keys;
        keys.reserve(level->of.size());
        for (const Index community : level->of) keys.push_back(place[community]);
        order = all_of(static_cast<Index>(keys.size()));
        stable_sort_by(order, keys);
    }
    return order;
}

StageResult run_louvain(const StagedMatrix& staged, const Parameters&, const StageContext&) {
    const Graph graph = adjacency_graph(staged.matrix, staged.node_size);
    const Offset all = graph.offsets.back();
    UnitGraph unit{graph, {}};
    for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) unit.vertex_weights.push_back(graph.degree(vertex));
    std::vector<Clusters> levels{move_vertices(unit, all)};
    WeightedGraph communities = contract(unit, levels.back());
    while (levels.back().count < static_cast<Index>(levels.back().of.size())) {
        levels.push_back(move_vertices(communities, all));
        communities = contract(communities, levels.back());
    }
    const double found = all == 0 ? 0 : modularity(communities, all);
    return {
        .change = {.order = order_of_nodes(order_by_levels(levels), staged.node_size)},
        .notes = {{"communities", std::to_string(communities.vertex_count())}, {"modularity", fmt::format("{:.3f}", found)}}};
}

}  // namespace

StageEntry louvain_stage() {
    return {.name = "louvain",
            .summary = "Order by communities of large modularity: move rows between communities, then whole communities",
            .source =
                "Blondel, Guillaume, Lambiotte, Lefebvre, 'Fast unfolding of communities in large networks', J. Statistical "
                "Mechanics 2008",
            .parameters = {storage_parameter()},
            .contract = contract_of_symmetric_order,
            .orders_all = true,
            .run = order_or_storage<run_louvain>,
            .foresee = foresee_gathered_rows,
            .nanoseconds_per_nonzero = 500};
}

}  // namespace workbench
