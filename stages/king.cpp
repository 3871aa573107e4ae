// King's order: number next whatever lets the fewest new vertices into the front.
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

/// The front is the vertices that are not numbered and have a neighbour that is. Each change of a vertex of the front is one
/// entry of a heap, so that all takes O(edges log edges), whatever the degrees.
class KingOrder {
public:
    explicit KingOrder(const Graph& graph) : graph_(graph), state_(graph.vertex_count(), State::outside) {
        for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) new_ones_.push_back(graph.degree(vertex));
    }

    void number_component(Index start) {
        enter(start);
        while (!front_.empty()) {
            const Index vertex = std::get<2>(front_.top());
            front_.pop();
            if (state_[vertex] == State::numbered) continue;  // new ones only become fewer: its last entry came first
            state_[vertex] = State::numbered;
            order_.push_back(vertex);
            for (const Index neighbour : graph_.neighbours_of(vertex)) {
                if (state_[neighbour] == State::outside) enter(neighbour);
            }
        }
    }

    [[nodiscard]] std::vector<Index> take_order() { return std::move(order_); }

private:
    enum class State : std::uint8_t { outside, front, numbered };

    void enter(Index vertex) {
        state_[vertex] = State::front;
        entered_.resize(state_.size(), 0);
        entered_[vertex] = ++entries_;
        push(vertex);
        for (const Index neighbour : graph_.neighbours_of(vertex)) {
            --new_ones_[neighbour];
            if (state_[neighbour] == State::front) push(neighbour);
        }
    }
    void push(Index vertex) { front_.emplace(new_ones_[vertex], entered_[vertex], vertex); }

    const Graph& graph_;
    std::vector<State> state_;
    std::vector<Index> new_ones_;  // [vertices] neighbours outside: so many the front would gain
    std::vector<Index> entered_;   // [vertices] when it came into the front: of equals the one that waits longest is next
    Index entries_ = 0;
    using Waiting = std::tuple<Index, Index, Index>;  // new ones, entered, vertex
    std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> front_;
    std::vector<Index> order_;
};

StageResult run(const StagedMatrix& staged, const Parameters&, const StageContext&) {
    const Graph graph = adjacency_graph(staged.matrix, staged.node_size);
    LevelSearch search(graph);
    KingOrder king(graph);
    Index components = 0;
    for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) {
        if (search.seen(vertex)) continue;
        king.number_component(search.pseudo_peripheral(vertex));
        ++components;
    }
    const Permutation nodes = Permutation::from_old_of_new(king.take_order());
    return {.change = {.order = OrderChange{Acts::symmetric, expand(nodes, staged.node_size)}},
            .notes = {{"connected components", std::to_string(components)}}};
}

}  // namespace

StageEntry king_stage() {
    return {.name = "king",
            .summary = "Reduce the profile: number next the row that couples the fewest new ones to those numbered",
            .source =
                "King, 'An automatic reordering scheme for simultaneous equations derived from network systems' (1970); "
                "start by George, Liu (1979)",
            .parameters = {},
            .contract = [](const Parameters&) { return StageContract{.needs = {.square = true}, .acts = Acts::symmetric}; },
            .run = run};
}

}  // namespace workbench
