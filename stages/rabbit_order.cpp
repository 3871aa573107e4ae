// A community order: vertices are merged where that raises the modularity, and numbered so that a community within a community
// within ... lies together, as caches within caches want it.
#include <algorithm>
#include <utility>
#include <vector>

#include "pipeline/matrix/random.hpp"
#include "stages/graph.hpp"
#include "stages/order.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

struct Edge {
    Index to = 0;
    Offset weight = 0;  // edges of the graph
};

/// Incremental aggregation: vertices by ascending degree, each merged into the neighbouring community that it gains most from.
/// What is merged becomes a child in the dendrogram; its edges are added up when its parent's turn comes, and those that are of
/// one community by then are dropped.
class Communities {
public:
    explicit Communities(const Graph& graph)
        : graph_(graph),
          towards_(all_of(graph.vertex_count())),
          children_(graph.vertex_count()),
          strength_(graph.vertex_count()),
          edges_(graph.vertex_count()),
          weight_to_(graph.vertex_count(), 0) {
        for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) strength_[vertex] = graph.degree(vertex);
    }

    void aggregate() {
        std::vector<Index> degrees(graph_.vertex_count());
        for (Index vertex = 0; vertex < graph_.vertex_count(); ++vertex) degrees[vertex] = graph_.degree(vertex);
        // Equals in an order that has nothing to do with their numbers: one after the other, the vertices of a grid would all
        // join one community that grows and grows, and each would carry its edges on.
        const Permutation shuffled = random_permutation(graph_.vertex_count(), 1);
        std::vector<Index> turns(shuffled.old_of_new().begin(), shuffled.old_of_new().end());
        stable_sort_by(turns, degrees);
        for (const Index vertex : turns) {
            gather_edges(vertex);
            const Index best = best_neighbour(vertex);
            if (best < 0) continue;
            towards_[vertex] = best;
            children_[best].push_back(vertex);
            strength_[best] += strength_[vertex];
        }
    }

    /// Depth first through the dendrogram: a vertex, then what was merged into it, in that order.
    [[nodiscard]] std::vector<Index> order() const {
        std::vector<Index> order;
        std::vector<Index> stack;
        for (Index root = 0; root < graph_.vertex_count(); ++root) {
            if (towards_[root] != root) continue;
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
        for (Index vertex = 0; vertex < graph_.vertex_count(); ++vertex) count += towards_[vertex] == vertex ? 1 : 0;
        return count;
    }

private:
    /// The vertex that the community is called after. Halves the path that it goes.
    Index community_of(Index vertex) {
        while (towards_[vertex] != vertex) {
            towards_[vertex] = towards_[towards_[vertex]];
            vertex = towards_[vertex];
        }
        return vertex;
    }

    /// The edges of a vertex and of all that was merged into it, to other communities.
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

    /// The community that raises the modularity most when the vertex joins it, of equals the one of the lowest number; -1 where
    /// none raises it. The gain is 2 (w / 2m - d d' / (2m)^2), with 2m the sum of all degrees; here times (2m)^2 / 2.
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
    std::vector<Index> towards_;                // [vertices] nearer to what the community is called after; itself: it is
    std::vector<std::vector<Index>> children_;  // [vertices] in the order in which they were merged
    std::vector<Offset> strength_;              // [vertices] sum of the degrees of its community
    std::vector<std::vector<Edge>> edges_;      // [vertices] of those that had their turn and whose parents wait for theirs
    std::vector<Offset> weight_to_;             // [vertices] while edges are gathered
};

StageResult run(const StagedMatrix& staged, const Parameters&, const StageContext&) {
    const Graph graph = adjacency_graph(staged.matrix, staged.node_size);
    Communities communities(graph);
    communities.aggregate();
    const Permutation nodes = Permutation::from_old_of_new(communities.order());
    return {.change = {.order = OrderChange{Acts::symmetric, expand(nodes, staged.node_size)}},
            .notes = {{"communities", std::to_string(communities.count())}}};
}

}  // namespace

StageEntry rabbit_order_stage() {
    return {.name = "rabbit_order",
            .summary = "Gather communities, and communities within them: merge rows while that raises the modularity",
            .source =
                "Arai, Shiokawa, Yamamuro, Onizuka and Iwamura, 'Rabbit order: just-in-time parallel reordering for fast "
                "graph analysis' (2016); here on one thread, the same everywhere",
            .parameters = {},
            .contract = [](const Parameters&) { return StageContract{.needs = {.square = true}, .acts = Acts::symmetric}; },
            .run = run};
}

}  // namespace workbench
