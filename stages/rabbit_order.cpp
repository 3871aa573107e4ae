// Rabbit order: merges vertices where that increases the modularity, and numbers the hierarchy of communities depth first, so
// that it maps to the hierarchy of caches.
#include <utility>
#include <vector>

#include "core/matrix/random.hpp"
#include "stages/graph.hpp"
#include "stages/order.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

struct Edge {
    Index to = 0;
    Offset weight = 0;  // number of edges of the graph
};

/// Incremental aggregation: in the order of ascending degrees, each vertex is merged into the neighbouring community with the
/// largest gain of modularity, and becomes a child in the dendrogram. The parent adds up the edges of its children when its
/// turn comes, and drops those within its community.
class Communities {
public:
    explicit Communities(const Graph& graph)
        : graph_(graph),
          parent_(all_of(graph.vertex_count())),
          children_(graph.vertex_count()),
          strength_(graph.vertex_count()),
          edges_(graph.vertex_count()),
          weight_to_(graph.vertex_count(), 0) {
        for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) strength_[vertex] = graph.degree(vertex);
    }

    void aggregate() {
        std::vector<Index> degrees(graph_.vertex_count());
        for (Index vertex = 0; vertex < graph_.vertex_count(); ++vertex) degrees[vertex] = graph_.degree(vertex);
        // Ties are in random order: in the order of their numbers, the vertices of a grid would all join one growing community,
        // and its edges would be added up again and again.
        const Permutation shuffled = random_permutation(graph_.vertex_count(), 1);
        std::vector<Index> turns(shuffled.old_of_new().begin(), shuffled.old_of_new().end());
        stable_sort_by(turns, degrees);
        for (const Index vertex : turns) {
            gather_edges(vertex);
            const Index best = best_neighbour(vertex);
            if (best < 0) continue;
            parent_[vertex] = best;
            children_[best].push_back(vertex);
            strength_[best] += strength_[vertex];
        }
    }

    /// The dendrogram in depth-first order: a vertex, then its children in the order in which they were merged.
    [[nodiscard]] std::vector<Index> order() const {
        std::vector<Index> order;
        std::vector<Index> stack;
        for (Index root = 0; root < graph_.vertex_count(); ++root) {
            if (parent_[root] != root) continue;
            stack.assign(1, root);
            while (!stack.empty()) {
                const Index vertex = stack.back();
                stack.pop_back();
                order.push_back(vertex);
                stack.insert(stack.end(), children_[vertex].rbegin(), children_[vertex].rend());
            }
        }
        return order;
    }

    [[nodiscard]] Index count() const {
        Index count = 0;
        for (Index vertex = 0; vertex < graph_.vertex_count(); ++vertex) count += parent_[vertex] == vertex ? 1 : 0;
        return count;
    }

private:
    /// The root of the vertex's tree, which names the community. A union-find lookup with path halving.
    Index community_of(Index vertex) {
        while (parent_[vertex] != vertex) {
            parent_[vertex] = parent_[parent_[vertex]];
            vertex = parent_[vertex];
        }
        return vertex;
    }

    /// Adds up the edges of a vertex and its children to other communities.
    void gather_edges(Index vertex) {
        std::vector<Edge> gathered;
        const auto add = [&](Index to, Offset weight) {
            const Index community = community_of(to);
            if (community == vertex) return;
            if (weight_to_[community] == 0) gathered.push_back({community, 0});
            weight_to_[community] += weight;
        };
        for (const Index neighbour : graph_.neighbours_of(vertex)) add(neighbour, 1);
        for (const Index child : children_[vertex]) {
            for (const Edge& edge : edges_[child]) add(edge.to, edge.weight);
            edges_[child] = {};
        }
        for (Edge& edge : gathered) edge.weight = std::exchange(weight_to_[edge.to], 0);
        edges_[vertex] = std::move(gathered);
    }

    /// The community whose merge with the vertex increases the modularity most (the smallest number in case of ties), or -1 if
    /// no merge does. The gain is 2 (w / 2m - d d' / (2m)^2), where 2m is the sum of all degrees; here it is scaled by (2m)^2
    /// / 2.
    [[nodiscard]] Index best_neighbour(Index vertex) const {
        const auto all = static_cast<double>(graph_.offsets.back());
        Index best = -1;
        double best_gain = 0;
        for (const Edge& edge : edges_[vertex]) {
            const double gain = static_cast<double>(edge.weight) * all -
                                static_cast<double>(strength_[vertex]) * static_cast<double>(strength_[edge.to]);
            if (gain < best_gain || gain <= 0 || (gain == best_gain && edge.to > best)) continue;
            best = edge.to;
            best_gain = gain;
        }
        return best;
    }

    const Graph& graph_;
    std::vector<Index> parent_;                 // [vertices] a vertex nearer to the root of the community; a root: itself
    std::vector<std::vector<Index>> children_;  // [vertices] in the order in which they were merged
    std::vector<Offset> strength_;              // [vertices] sum of the degrees in the community of a root
    std::vector<std::vector<Edge>> edges_;      // [vertices] of merged vertices, until the parent adds them up
    std::vector<Offset> weight_to_;             // [vertices] in gather_edges: sums by community
};

StageResult run_rabbit_order(const StagedMatrix& staged, const Parameters&, const StageContext&) {
    const Graph graph = adjacency_graph(staged.matrix, staged.node_size);
    Communities communities(graph);
    communities.aggregate();
    return {.change = {.order = order_of_nodes(communities.order(), staged.node_size)},
            .notes = {{"communities", std::to_string(communities.count())}}};
}

}  // namespace

StageEntry rabbit_order_stage() {
    return {.name = "rabbit_order",
            .summary = "Order by a hierarchy of communities: merge rows while that increases the modularity",
            .source =
                "Arai, Shiokawa, Yamamuro, Onizuka, Iwamura, 'Rabbit order: just-in-time parallel reordering for fast graph "
                "analysis', IPDPS 2016; here serial, with the same result on every machine",
            .parameters = {storage_parameter()},
            .contract = contract_of_symmetric_order,
            .orders_all = true,
            .run = order_or_storage<run_rabbit_order>,
            .foresee = foresee_gathered_rows,
            .nanoseconds_per_nonzero = 170};
}

}  // namespace workbench
