// Sloan's order: like King's order, but it weighs the size of the front against the distance to the end of the graph.
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

/// The weights W1 and W2 of the paper.
struct Weights {
    std::int64_t distance = 2;
    std::int64_t front = 1;
};

/// As in the paper: an inactive vertex becomes preactive as a neighbour of an active or numbered vertex, active as a neighbour
/// of a numbered vertex, and then numbered. Each vertex becomes active once, so the order takes O(edges log edges).
class SloanOrder {
public:
    SloanOrder(const Graph& graph, Weights weights)
        : graph_(graph),
          weights_(weights),
          state_(graph.vertex_count(), SloanState::inactive),
          priority_(graph.vertex_count(), 0) {}

    /// `search` must have found `levels` levels from the end of the component.
    void number_component(Index start, const LevelSearch& search, Index levels) {
        for (Index level = 0; level < levels; ++level) {
            for (const Index vertex : search.level(level)) {
                priority_[vertex] = weights_.distance * level - weights_.front * (std::int64_t{graph_.degree(vertex)} + 1);
            }
        }
        state_[start] = SloanState::preactive;
        push(start);
        while (!waiting_.empty()) {
            const Index vertex = std::get<2>(waiting_.top());
            waiting_.pop();
            if (state_[vertex] == SloanState::numbered) continue;  // an outdated entry: priorities only rise
            if (state_[vertex] == SloanState::preactive) {
                for (const Index neighbour : graph_.neighbours_of(vertex)) raise(neighbour);
            }
            state_[vertex] = SloanState::numbered;
            order_.push_back(vertex);
            for (const Index neighbour : graph_.neighbours_of(vertex)) {
                if (state_[neighbour] == SloanState::preactive) activate(neighbour);
            }
        }
    }

    [[nodiscard]] std::vector<Index> take_order() { return std::move(order_); }

private:
    enum class SloanState : std::uint8_t { inactive, preactive, active, numbered };

    void push(Index vertex) { waiting_.emplace(priority_[vertex], -vertex, vertex); }

    /// A neighbour has entered the front, so numbering this vertex adds one vertex less.
    void raise(Index vertex) {
        if (state_[vertex] == SloanState::numbered) return;
        priority_[vertex] += weights_.front;
        if (state_[vertex] == SloanState::inactive) state_[vertex] = SloanState::preactive;
        push(vertex);
    }

    void activate(Index vertex) {
        state_[vertex] = SloanState::active;
        priority_[vertex] += weights_.front;
        push(vertex);
        for (const Index neighbour : graph_.neighbours_of(vertex)) raise(neighbour);
    }

    const Graph& graph_;
    Weights weights_;
    std::vector<SloanState> state_;
    std::vector<std::int64_t> priority_;
    std::priority_queue<std::tuple<std::int64_t, Index, Index>> waiting_;  // priority, -vertex, vertex
    std::vector<Index> order_;
};

StageResult run_sloan(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    const Graph graph = adjacency_graph(staged.matrix, staged.node_size);
    LevelSearch search(graph);
    SloanOrder sloan(graph, {parameters.integer("distance_weight"), parameters.integer("front_weight")});
    Index components = 0;
    for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) {
        if (search.seen(vertex)) continue;
        const Index start = search.pseudo_peripheral(vertex);
        search.from(start);
        const Index levels = search.from(search.farthest());
        sloan.number_component(start, search, levels);
        ++components;
    }
    return {.change = {.order = order_of_nodes(sloan.take_order(), staged.node_size)},
            .notes = {{"connected components", std::to_string(components)}}};
}

}  // namespace

StageEntry sloan_stage() {
    return {.name = "sloan",
            .summary = "Reduce profile and front: number next a row that is far from the end and adds few rows to the front",
            .source =
                "Sloan, 'An algorithm for profile and wavefront reduction of sparse matrices', Int. J. Numerical Methods in "
                "Engineering 1986; ends: George, Liu, 'An implementation of a pseudoperipheral node finder', ACM TOMS 1979",
            .parameters = {integer_parameter("distance_weight", by_default(2), between(0, 1000000),
                                             "weight of the distance to the end of the component (W1 of the paper)"),
                           integer_parameter("front_weight", by_default(1), between(0, 1000000),
                                             "weight of the rows that would join the front (W2 of the paper)"),
                           storage_parameter()},
            .contract = contract_of_symmetric_order,
            .orders_all = true,
            .run = order_or_storage<run_sloan>,
            .foresee = foresee_gathered_rows,
            .nanoseconds_per_nonzero = 370};
}

}  // namespace workbench
