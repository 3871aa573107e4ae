#include "stages/fit_partition.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <stdexcept>
#include <utility>

#include "core/matrix/guarded_loop.hpp"

namespace workbench {
namespace {

class Fitter {
public:
    Fitter(const Graph& graph, std::vector<Index>& part_of, Index parts, Index capacity)
        : graph_(graph), part_of_(part_of), capacity_(capacity), members_(parts), links_(parts), gain_(graph.vertex_count()) {
        for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) {
            if (graph.degree(vertex) == 0) continue;
            members_[part_of[vertex]].push_back(vertex);
        }
        guarded_for("count_links", UnevenHostRange<>(0, parts).set_chunk_size(1), [this](Index part) {
            for (const Index vertex : members_[part]) {
                for (const Index neighbour : graph_.neighbours_of(vertex)) add_links(part, part_of_[neighbour], 1);
            }
        });
    }

    void shrink_overfull_parts() {
        for (Index part = 0; part < part_count(); ++part) {
            while (free_places(part) < 0) {
                const std::vector<Index> path = path_to_free_places(part);
                // Parts within the path are full, so each has enough vertices to pass on.
                const Index count = std::min(-free_places(part), free_places(path.back()));
                for (std::size_t hop = path.size() - 1; hop > 0; --hop) move_best(path[hop - 1], path[hop], count);
            }
        }
    }

    void assign_vertices_without_edges() {
        using SizeAndPart = std::pair<std::size_t, Index>;
        std::priority_queue<SizeAndPart, std::vector<SizeAndPart>, std::greater<>> smallest;
        for (Index part = 0; part < part_count(); ++part) smallest.emplace(members_[part].size(), part);
        for (Index vertex = 0; vertex < graph_.vertex_count(); ++vertex) {
            if (graph_.degree(vertex) > 0) continue;
            const auto [size, part] = smallest.top();
            smallest.pop();
            part_of_[vertex] = part;
            smallest.emplace(size + 1, part);
        }
    }

private:
    struct MoveCandidate {
        Index gain = 0;
        Index vertex = 0;
        bool operator<(const MoveCandidate& other) const {
            return gain != other.gain ? gain < other.gain : vertex > other.vertex;
        }
    };

    [[nodiscard]] Index part_count() const { return static_cast<Index>(members_.size()); }
    [[nodiscard]] Index free_places(Index part) const { return capacity_ - static_cast<Index>(members_[part].size()); }

    void add_links(Index from, Index to, Offset count) {
        if (from == to) return;
        const auto link = links_[from].try_emplace(to, 0).first;
        link->second += count;
        if (link->second == 0) links_[from].erase(link);
    }

    /// The adjacent parts of a part, in descending order of the edges between them.
    [[nodiscard]] std::vector<Index> neighbour_parts(Index part) const {
        std::vector<Index> neighbours;
        for (const auto& link : links_[part]) neighbours.push_back(link.first);
        std::stable_sort(neighbours.begin(), neighbours.end(),
                         [&](Index a, Index b) { return links_[part].at(a) > links_[part].at(b); });
        return neighbours;
    }

    /// The shortest path from a part to one with free places. If there is no path: directly to the smallest part.
    [[nodiscard]] std::vector<Index> path_to_free_places(Index start) const {
        std::map<Index, Index> came_from{{start, start}};
        std::deque<Index> queue{start};
        for (; !queue.empty(); queue.pop_front()) {
            for (const Index part : neighbour_parts(queue.front())) {
                if (!came_from.try_emplace(part, queue.front()).second) continue;
                if (free_places(part) <= 0) {
                    queue.push_back(part);
                    continue;
                }
                std::vector<Index> path{part};
                while (path.back() != start) path.push_back(came_from.at(path.back()));
                std::reverse(path.begin(), path.end());
                return path;
            }
        }
        const auto smallest = std::min_element(members_.begin(), members_.end(),
                                               [](const auto& a, const auto& b) { return a.size() < b.size(); });
        return {start, static_cast<Index>(smallest - members_.begin())};
    }

    /// The decrease of the edge cut if the vertex moves.
    [[nodiscard]] Index gain_of_move(Index vertex, Index from, Index to) const {
        Index gain = 0;
        for (const Index neighbour : graph_.neighbours_of(vertex)) {
            if (part_of_[neighbour] == to) ++gain;
            if (part_of_[neighbour] == from) --gain;
        }
        return gain;
    }

    void move_best(Index from, Index to, Index count) {
        const std::vector<Index>& members = members_[from];
        std::vector<MoveCandidate> candidates(members.size());
        Kokkos::parallel_for("gains_of_moves", HostRange<>(0, static_cast<Index>(members.size())), [&](Index i) {
            gain_[members[i]] = gain_of_move(members[i], from, to);
            candidates[i] = {gain_[members[i]], members[i]};
        });
        std::priority_queue<MoveCandidate> best(std::less<MoveCandidate>{}, std::move(candidates));
        while (count > 0) {
            const MoveCandidate candidate = best.top();
            best.pop();
            const Index vertex = candidate.vertex;
            if (part_of_[vertex] != from) continue;  // an outdated entry: gains grow, so that the valid one came first
            reassign(vertex, from, to);
            --count;
            for (const Index neighbour : graph_.neighbours_of(vertex)) {
                if (part_of_[neighbour] != from) continue;
                gain_[neighbour] += 2;  // one neighbour fewer on this side, one more beyond
                best.push({gain_[neighbour], neighbour});
            }
        }
        std::erase_if(members_[from], [&](Index vertex) { return part_of_[vertex] != from; });
    }

    void reassign(Index vertex, Index from, Index to) {
        for (const Index neighbour : graph_.neighbours_of(vertex)) {
            const Index other = part_of_[neighbour];
            add_links(from, other, -1);
            add_links(other, from, -1);
            add_links(to, other, 1);
            add_links(other, to, 1);
        }
        part_of_[vertex] = to;
        members_[to].push_back(vertex);
    }

    const Graph& graph_;
    std::vector<Index>& part_of_;
    Index capacity_;
    std::vector<std::vector<Index>> members_;     // [parts]
    std::vector<std::map<Index, Offset>> links_;  // [parts] the number of edges to each other part
    std::vector<Index> gain_;                     // [vertices] in move_best
};

}  // namespace

Offset edge_cut(const Graph& graph, const std::vector<Index>& part_of) {
    Offset ends = 0;
    Kokkos::parallel_reduce(
        "edge_cut", HostRange<>(0, graph.vertex_count()),
        [&](Index vertex, Offset& sum) {
            for (const Index neighbour : graph.neighbours_of(vertex)) sum += part_of[vertex] != part_of[neighbour] ? 1 : 0;
        },
        ends);
    return ends / 2;
}

void fit_partition(const Graph& graph, std::vector<Index>& part_of, Index parts, Index capacity) {
    if (Offset{parts} * capacity < graph.vertex_count()) throw std::logic_error("the capacity of all parts is too small");
    Fitter fitter(graph, part_of, parts, capacity);
    fitter.shrink_overfull_parts();
    fitter.assign_vertices_without_edges();
}

}  // namespace workbench
