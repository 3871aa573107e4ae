// King's order: number next the vertex that adds the fewest vertices to the front.
#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

#include "stages/graph.hpp"
#include "stages/levels.hpp"
#include "stages/order.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

/// The front are the vertices without a number that have a numbered neighbour. Each update of a vertex of the front is an entry
/// of a heap, so the order takes O(edges log edges) for any degrees.
class KingOrder {
public:
    explicit KingOrder(const Graph& graph)
        : graph_(graph), state_(graph.vertex_count(), KingState::outside), entered_(graph.vertex_count(), 0) {
        for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) outside_.push_back(graph.degree(vertex));
    }

    void number_component(Index start) {
        enter(start);
        while (!front_.empty()) {
            const Index vertex = std::get<2>(front_.top());
            front_.pop();
            if (state_[vertex] == KingState::numbered) continue;  // an outdated entry: priorities only rise
            state_[vertex] = KingState::numbered;
            order_.push_back(vertex);
            for (const Index neighbour : graph_.neighbours_of(vertex)) {
                if (state_[neighbour] == KingState::outside) enter(neighbour);
            }
        }
    }

    [[nodiscard]] std::vector<Index> take_order() { return std::move(order_); }

private:
    enum class KingState : std::uint8_t { outside, front, numbered };

    void enter(Index vertex) {
        state_[vertex] = KingState::front;
        entered_[vertex] = ++entries_;
        push(vertex);
        for (const Index neighbour : graph_.neighbours_of(vertex)) {
            --outside_[neighbour];
            if (state_[neighbour] == KingState::front) push(neighbour);
        }
    }
    void push(Index vertex) { front_.emplace(outside_[vertex], entered_[vertex], vertex); }

    const Graph& graph_;
    std::vector<KingState> state_;
    std::vector<Index> outside_;  // [vertices] neighbours outside of the front, which numbering the vertex would add
    std::vector<Index> entered_;  // [vertices] the time at which it entered the front; the earliest vertex wins ties
    Index entries_ = 0;
    using Waiting = std::tuple<Index, Index, Index>;  // outside, entered, vertex
    std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> front_;
    std::vector<Index> order_;
};

StageResult run_king(const StagedMatrix& staged, const Parameters&, const StageContext&) {
    const Graph graph = adjacency_graph(staged.matrix, staged.node_size);
    LevelSearch search(graph);
    KingOrder king(graph);
    Index components = 0;
    for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) {
        if (search.seen(vertex)) continue;
        king.number_component(search.pseudo_peripheral(vertex));
        ++components;
    }
    return {.change = {.order = order_of_nodes(king.take_order(), staged.node_size)},
            .notes = {{"connected components", std::to_string(components)}}};
}

}  // namespace

StageEntry king_stage() {
    return {
        .name = "king",
        .summary = "Reduce the profile: number next the row that adds the fewest rows to the front",
        .source =
            "King, 'An automatic reordering scheme for simultaneous equations derived from network systems', Int. J. Numerical "
            "Methods in Engineering 1970; start: George, Liu, 'An implementation of a pseudoperipheral node finder', ACM TOMS "
            "1979",
        .parameters = {storage_parameter()},
        .contract = contract_of_symmetric_order,
        .orders_all = true,
        .run = order_or_storage<run_king>,
        .foresee = foresee_gathered_rows,
        .nanoseconds_per_nonzero = 220};
}

}  // namespace workbench
