// Gorder: next comes the vertex that has most neighbours in common with the vertices placed last, so that what one row reads
// of x is still in the cache for the next.
#include <algorithm>
#include <cmath>
#include <vector>

#include "stages/graph.hpp"
#include "stages/order.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

/// Vertices by score, with one list for each score: a change of a score by any amount takes constant time (the unit heap of
/// the paper).
class ScoreLists {
public:
    explicit ScoreLists(Index vertices) : score_(vertices, 0), next_(vertices, -1), previous_(vertices, -1), first_(1, -1) {
        for (Index vertex = vertices - 1; vertex >= 0; --vertex) insert(vertex);
    }

    void change(Index vertex, Index by) {
        remove(vertex);
        score_[vertex] += by;
        insert(vertex);
    }

    /// The first of the vertices with the largest score, which must exist.
    [[nodiscard]] Index best() {
        while (first_[largest_] < 0) --largest_;
        return first_[largest_];
    }

    void remove(Index vertex) {
        const Index before = previous_[vertex];
        const Index after = next_[vertex];
        (before < 0 ? first_[score_[vertex]] : next_[before]) = after;
        if (after >= 0) previous_[after] = before;
    }

private:
    void insert(Index vertex) {
        const Index score = score_[vertex];
        if (score >= static_cast<Index>(first_.size())) first_.resize(score + 1, -1);
        largest_ = std::max(largest_, score);
        next_[vertex] = first_[score];
        previous_[vertex] = -1;
        if (next_[vertex] >= 0) previous_[next_[vertex]] = vertex;
        first_[score] = vertex;
    }

    std::vector<Index> score_;
    std::vector<Index> next_;
    std::vector<Index> previous_;
    std::vector<Index> first_;  // of each score; -1: none
    Index largest_ = 0;         // no score is larger
};

/// The score of a vertex is the sum over the last `window` vertices of their common neighbours and of the edge between both.
class Gorder {
public:
    Gorder(const Graph& graph, Index window)
        : graph_(graph),
          window_(window),
          most_neighbours_(std::sqrt(static_cast<double>(graph.vertex_count()))),
          lists_(graph.vertex_count()),
          placed_(graph.vertex_count(), 0),
          change_(graph.vertex_count(), 0) {}

    [[nodiscard]] std::vector<Index> order() {
        std::vector<Index> order;
        order.reserve(graph_.vertex_count());
        for (Index place = 0; place < graph_.vertex_count(); ++place) {
            const Index vertex = place == 0 ? vertex_of_largest_degree() : lists_.best();
            lists_.remove(vertex);
            placed_[vertex] = 1;
            order.push_back(vertex);
            add_scores_with(vertex, 1);
            if (place >= window_) add_scores_with(order[place - window_], -1);
            apply_changes();
        }
        return order;
    }

private:
    [[nodiscard]] Index vertex_of_largest_degree() const {
        Index best = 0;
        for (Index vertex = 1; vertex < graph_.vertex_count(); ++vertex) {
            if (graph_.degree(vertex) > graph_.degree(best)) best = vertex;
        }
        return best;
    }

    /// A common neighbour of very many vertices tells nothing of them, and would take most of the time.
    void add_scores_with(Index vertex, Index sign) {
        for (const Index neighbour : graph_.neighbours_of(vertex)) {
            add(neighbour, sign);
            if (graph_.degree(neighbour) > most_neighbours_) continue;
            for (const Index other : graph_.neighbours_of(neighbour)) add(other, sign);
        }
    }

    void add(Index vertex, Index score) {
        if (placed_[vertex] != 0) return;
        if (change_[vertex] == 0) changed_.push_back(vertex);
        change_[vertex] += score;
    }

    /// A vertex whose changes cancelled each other in between is in the list twice.
    void apply_changes() {
        for (const Index vertex : changed_) {
            if (change_[vertex] != 0) lists_.change(vertex, change_[vertex]);
            change_[vertex] = 0;
        }
        changed_.clear();
    }

    const Graph& graph_;
    Index window_;
    double most_neighbours_;
    ScoreLists lists_;
    std::vector<char> placed_;
    std::vector<Index> change_;   // [vertices] of the score, in this step
    std::vector<Index> changed_;  // vertices
};

StageResult run_gorder(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    const Graph graph = adjacency_graph(staged.matrix, staged.node_size);
    Gorder gorder(graph, static_cast<Index>(parameters.integer("window")));
    return {.change = {.order = order_of_nodes(gorder.order(), staged.node_size)}};
}

}  // namespace

StageEntry gorder_stage() {
    return {.name = "gorder",
            .summary = "Order for caches: next comes the row with most neighbours in common with the last rows",
            .source = "Wei, Yu, Lu, Lin, 'Speedup graph processing by graph ordering', SIGMOD 2016",
            .parameters = {integer_parameter("window", by_default(5), between(1, 1000000),
                                             "number of rows placed last with which common neighbours count (w of the paper)"),
                           storage_parameter()},
            .contract = contract_of_symmetric_order,
            .orders_all = true,
            .run = order_or_storage<run_gorder>,
            .foresee = foresee_gathered_rows,
            .nanoseconds_per_nonzero = 300};
}

}  // namespace workbench
