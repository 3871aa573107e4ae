// Sloan's order: King's greed for a small front, weighed against the distance from the far end of the graph.
#include <cstdint>
#include <queue>
#include <tuple>
#include <vector>

#include "stages/graph.hpp"
#include "stages/levels.hpp"
#include "stages/order.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

struct Weights {
    std::int64_t distance = 2;  // Sloan's W1
    std::int64_t front = 1;     // W2
};

/// As in the paper: a vertex is inactive; preactive, as a neighbour of an active one or of one that is numbered; active, as a
/// neighbour of one that is numbered; then numbered. Each becomes active once, so that all takes O(edges log edges).
class SloanOrder {
public:
    SloanOrder(const Graph& graph, Weights weights)
        : graph_(graph), weights_(weights), state_(graph.vertex_count(), State::inactive), priority_(graph.vertex_count(), 0) {}

    /// `search` has searched from the end of the component last.
    void number_component(Index start, const LevelSearch& search) {
        for (const Index vertex : search.found()) {
            priority_[vertex] =
                weights_.distance * search.level(vertex) - weights_.front * (std::int64_t{graph_.degree(vertex)} + 1);
        }
        state_[start] = State::preactive;
        push(start);
        while (!waiting_.empty()) {
            const Index vertex = std::get<2>(waiting_.top());
            waiting_.pop();
            if (state_[vertex] == State::numbered) continue;  // priorities only rise: its last came first
            if (state_[vertex] == State::preactive) {
                for (const Index neighbour : graph_.neighbours_of(vertex)) raise(neighbour);
            }
            state_[vertex] = State::numbered;
            order_.push_back(vertex);
            for (const Index neighbour : graph_.neighbours_of(vertex)) {
                if (state_[neighbour] == State::preactive) activate(neighbour);
            }
        }
    }

    [[nodiscard]] std::vector<Index> take_order() { return std::move(order_); }

private:
    enum class State : std::uint8_t { inactive, preactive, active, numbered };

    void push(Index vertex) { waiting_.emplace(priority_[vertex], -vertex, vertex); }

    /// A neighbour of it is, or will be, in the front: numbering it costs one less.
    void raise(Index vertex) {
        if (state_[vertex] == State::numbered) return;
        priority_[vertex] += weights_.front;
        if (state_[vertex] == State::inactive) state_[vertex] = State::preactive;
        push(vertex);
    }

    void activate(Index vertex) {
        state_[vertex] = State::active;
        priority_[vertex] += weights_.front;
        push(vertex);
        for (const Index neighbour : graph_.neighbours_of(vertex)) raise(neighbour);
    }

    const Graph& graph_;
    Weights weights_;
    std::vector<State> state_;
    std::vector<std::int64_t> priority_;
    std::priority_queue<std::tuple<std::int64_t, Index, Index>> waiting_;  // priority, the lower number of equals, vertex
    std::vector<Index> order_;
};

StageResult run(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    const Graph graph = adjacency_graph(staged.matrix, staged.node_size);
    LevelSearch search(graph);
    SloanOrder sloan(graph, {parameters.integer("distance_weight"), parameters.integer("front_weight")});
    Index components = 0;
    for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) {
        if (search.seen(vertex)) continue;
        const Index start = search.pseudo_peripheral(vertex);
        search.from(search.farthest());
        sloan.number_component(start, search);
        ++components;
    }
    const Permutation nodes = Permutation::from_old_of_new(sloan.take_order());
    return {.change = {.order = OrderChange{Acts::symmetric, expand(nodes, staged.node_size)}},
            .notes = {{"connected components", std::to_string(components)}}};
}

ParameterDeclaration weight(const char* name, std::int64_t value, const char* help) {
    return {
        .name = name, .type = ParameterType::integer, .default_value = value, .minimum = 0, .maximum = 1000000, .help = help};
}

}  // namespace

StageEntry sloan_stage() {
    return {.name = "sloan",
            .summary = "Reduce profile and front: number next what lies far from the end and couples few new rows",
            .source =
                "Sloan, 'An algorithm for profile and wavefront reduction of sparse matrices' (1986); ends by George, Liu "
                "(1979)",
            .parameters = {weight("distance_weight", 2, "of the distance to the end of the component (the paper's W1)"),
                           weight("front_weight", 1, "of the rows that would join the front (the paper's W2)")},
            .contract = [](const Parameters&) { return StageContract{.needs = {.square = true}, .acts = Acts::symmetric}; },
            .run = run};
}

}  // namespace workbench
