#include "stages/refine_partition.hpp"

#include <atomic>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/matrix/random.hpp"

namespace workbench {
namespace {

/// Sums by key like SparseSums, in a list that suits a few keys which occur repeatedly, such as the parts around a vertex.
class FewSums {
public:
    void start(std::size_t most_keys) {
        count_ = 0;
        if (most_keys > sums_.size()) sums_.resize(most_keys);
    }

    void add(Index key, Offset amount) {
        for (std::size_t i = 0; i < count_; ++i) {
            if (sums_[i].first != key) continue;
            sums_[i].second += amount;
            return;
        }
        sums_[count_++] = {key, amount};
    }

    template <typename Visit>
    void visit(const Visit& visit) const {
        for (std::size_t i = 0; i < count_; ++i) visit(sums_[i].first, sums_[i].second);
    }

private:
    std::vector<std::pair<Index, Offset>> sums_;  // the first count_ are in use
    std::size_t count_ = 0;
};

/// The number of keys above which SparseSums is faster than FewSums.
constexpr std::size_t most_listed_keys = 64;

template <typename AnyGraph>
class Refiner {
public:
    Refiner(const AnyGraph& graph, Partition& partition, Offset heaviest, const Refinement& refinement, std::uint64_t seed)
        : graph_(graph),
          partition_(partition),
          part_of_(partition.part_of),
          heaviest_(heaviest),
          refinement_(refinement),
          seed_(mixed(seed)),
          runs_(graph),
          weight_(partition.parts, 0),
          arriving_(partition.parts, 0),
          stale_(partition.border) {
        make_filled(target_, graph.vertex_count(), stays);
        make_zeros(gain_, graph.vertex_count());
        make_zeros(moved_, graph.vertex_count());
        make_zeros(pays_, graph.vertex_count());
        runs_.for_each_run("weigh_parts", [&](Index first, Index last) {
            std::vector<Offset> here(weight_.size(), 0);
            for (Index vertex = first; vertex < last; ++vertex) here[part_of_[vertex]] += graph.vertex_weights[vertex];
            add_to(weight_, here);
        });
        const Offset mean = std::accumulate(weight_.begin(), weight_.end(), Offset{0}) / partition.parts;
        heaviest_target_ = heaviest - std::max<Offset>(heaviest - mean, 0) / 10;
    }

    void improve() {
        std::vector<Index> best = part_of_;
        std::pair<Offset, Offset> best_figures{excess(), partition_.cut};
        int without_success = 0;
        for (int turn = 0; turn < refinement_.most_turns && without_success < refinement_.patience; ++turn) {
            choose_moves();
            if (excess() == 0) {
                select_moves(turn);
            } else {
                evict(turn);
            }
            partition_.cut += move() / 2;
            const std::pair<Offset, Offset> figures{excess(), partition_.cut};
            ++without_success;
            if (figures >= best_figures) continue;
            const auto gained = static_cast<double>(best_figures.second - figures.second);
            const bool continues =
                figures.first < best_figures.first || gained > refinement_.least_gain * static_cast<double>(figures.second);
            best_figures = figures;
            best = part_of_;
            without_success = 0;
            if (!continues) break;
        }
        part_of_ = std::move(best);
        partition_.cut = best_figures.second;
    }

private:
    static constexpr Index stays = -1;

    [[nodiscard]] Offset excess() const {
        Offset sum = 0;
        for (const Offset weight : weight_) sum += std::max<Offset>(weight - heaviest_, 0);
        return sum;
    }

    [[nodiscard]] std::uint64_t tie(Index vertex, int turn) const {
        return mixed(seed_ ^ (static_cast<std::uint64_t>(turn) << 32) ^ static_cast<std::uint64_t>(vertex));
    }

    struct MoveChoice {
        Index part = stays;
        Offset gain = 0;    // the decrease of the cut
        Offset inside = 0;  // the weight of the vertex's edges within its part
    };

    /// The allowed part, other than its own, to which a vertex is coupled most.
    template <typename Allowed>
    [[nodiscard]] MoveChoice choose(Index vertex, FewSums& few, SparseSums& many, const Allowed& allowed) const {
        const std::size_t most_keys = std::min(graph_.edges_of(vertex).size(), weight_.size());
        return most_keys <= most_listed_keys ? choose_with(vertex, most_keys, few, allowed)
                                             : choose_with(vertex, most_keys, many, allowed);
    }

    template <typename Sums, typename Allowed>
    [[nodiscard]] MoveChoice choose_with(Index vertex, std::size_t most_keys, Sums& coupling, const Allowed& allowed) const {
        const Index own = part_of_[vertex];
        MoveChoice choice;
        coupling.start(most_keys);
        for (const WeightedEdge edge : graph_.edges_of(vertex)) {
            const Index part = part_of_[edge.to];
            if (part == own) {
                choice.inside += edge.weight;
            } else {
                coupling.add(part, edge.weight);
            }
        }
        Offset most = -1;
        coupling.visit([&](Index part, Offset sum) {
            if (sum < most || (sum == most && part > choice.part) || !allowed(part)) return;
            choice.part = part;
            most = sum;
        });
        choice.gain = most - choice.inside;
        return choice;
    }

    /// Updates the choices of the vertices whose neighbourhood has changed.
    void choose_moves() {
        runs_.for_each_run("choose_moves", [&](Index first, Index last) {
            FewSums few;
            SparseSums many;
            for (Index vertex = first; vertex < last; ++vertex) {
                if (stale_[vertex] == 0) continue;
                stale_[vertex] = 0;
                const MoveChoice choice = choose(vertex, few, many, [](Index) { return true; });
                const bool too_costly = choice.gain < 0 && -static_cast<double>(choice.gain) >=
                                                               refinement_.descent * static_cast<double>(choice.inside);
                target_[vertex] = too_costly ? stays : choice.part;
                gain_[vertex] = choice.gain;
            }
        });
    }

    /// Returns true if a vertex has a target and did not move in the last turn.
    [[nodiscard]] bool may_move(Index vertex) const { return target_[vertex] != stays && moved_[vertex] == 0; }

    /// Returns true if a neighbour's move is assumed to happen first: the one with the larger gain, then the smaller number.
    [[nodiscard]] bool goes_before(Index neighbour, Index vertex) const {
        return may_move(neighbour) &&
               (gain_[neighbour] > gain_[vertex] || (gain_[neighbour] == gain_[vertex] && neighbour < vertex));
    }

    /// Selects the moves that pay off and fit.
    void select_moves(int turn) {
        std::fill(arriving_.begin(), arriving_.end(), 0);
        runs_.for_each_run("select_moves", [&](Index first, Index last) {
            std::vector<Offset> here(arriving_.size(), 0);
            for (Index vertex = first; vertex < last; ++vertex) {
                pays_[vertex] = may_move(vertex) && pays(vertex) ? 1 : 0;
                if (pays_[vertex] != 0) here[target_[vertex]] += graph_.vertex_weights[vertex];
            }
            add_to(arriving_, here);
        });
        runs_.for_each_vertex("fit_moves",
                              [&](Index vertex) { moved_[vertex] = pays_[vertex] != 0 && fits(vertex, turn) ? 1 : 0; });
    }

    [[nodiscard]] bool pays(Index vertex) const {
        const Index from = part_of_[vertex];
        const Index to = target_[vertex];
        Offset gain = 0;
        for (const WeightedEdge edge : graph_.edges_of(vertex)) {
            const Index part = goes_before(edge.to, vertex) ? target_[edge.to] : part_of_[edge.to];
            gain += part == to ? edge.weight : (part == from ? -edge.weight : 0);
        }
        return gain >= 0;
    }

    /// True for all moves to a part that can take them; otherwise for a random choice that fills the part on average.
    [[nodiscard]] bool fits(Index vertex, int turn) const {
        const Offset arriving = arriving_[target_[vertex]];
        const Offset free = heaviest_ - weight_[target_[vertex]];
        if (arriving <= free) return true;
        return static_cast<double>(tie(vertex, turn) >> 11) * 0x1p-53 * static_cast<double>(arriving) <
               static_cast<double>(free);
    }

    /// Makes the selected moves. Returns twice the change of the cut.
    Offset move() {
        runs_.for_each_run("move", [&](Index first, Index last) {
            std::vector<Offset> more(weight_.size(), 0);
            for (Index vertex = first; vertex < last; ++vertex) {
                if (moved_[vertex] == 0) continue;
                more[part_of_[vertex]] -= graph_.vertex_weights[vertex];
                more[target_[vertex]] += graph_.vertex_weights[vertex];
                std::swap(part_of_[vertex], target_[vertex]);  // target_ is its old part until the next choice
            }
            add_to(weight_, more);
        });
        Offset change = 0;
        runs_.for_each_run("note_changes", [&](Index first, Index last) {
            Offset here = 0;
            for (Index vertex = first; vertex < last; ++vertex) {
                if (moved_[vertex] == 0) continue;
                mark_stale(vertex);
                for (const WeightedEdge edge : graph_.edges_of(vertex)) {
                    mark_stale(edge.to);
                    const bool both = moved_[edge.to] != 0;
                    const Index before = both ? target_[edge.to] : part_of_[edge.to];
                    const int more = (part_of_[edge.to] != part_of_[vertex] ? 1 : 0) - (before != target_[vertex] ? 1 : 0);
                    here += Offset{edge.weight} * more * (both ? 1 : 2);
                }
            }
            Kokkos::atomic_add(&change, here);
        });
        return change;
    }

    /// Reads first, because most vertices are marked already, and a write takes the cache line from other cores.
    void mark_stale(Index vertex) {
        std::atomic_ref<char> stale(stale_[vertex]);
        if (stale.load(std::memory_order_relaxed) == 0) stale.store(1, std::memory_order_relaxed);
    }

    /// Adds the sums by part of one run to those of all runs.
    static void add_to(std::vector<Offset>& sums, const std::vector<Offset>& of_run) {
        for (std::size_t part = 0; part < sums.size(); ++part) {
            if (of_run[part] != 0) Kokkos::atomic_add(&sums[part], of_run[part]);
        }
    }

    /// Each overweight part evicts vertices until it fits: first those that cost least among the vertices on its border, then
    /// any vertices to any part that can take them.
    void evict(int turn) {
        std::vector<Index> place(weight_.size(), stays);  // of the overweight parts, in members
        std::vector<std::vector<Index>> members;
        std::vector<Index> takers;
        for (Index part = 0; part < static_cast<Index>(weight_.size()); ++part) {
            if (weight_[part] > heaviest_) {
                place[part] = static_cast<Index>(members.size());
                members.emplace_back();
            } else if (weight_[part] < heaviest_target_) {
                takers.push_back(part);
            }
        }
        for (Index vertex = 0; vertex < graph_.vertex_count(); ++vertex) {
            if (place[part_of_[vertex]] != stays) members[place[part_of_[vertex]]].push_back(vertex);
            moved_[vertex] = 0;
        }
        guarded_for("evict", UnevenHostRange<>(0, static_cast<Index>(members.size())).set_chunk_size(1),
                    [&](Index heavy) { evict_from(members[heavy], takers, turn); });
    }

    struct Eviction {
        bool on_border;
        double loss;
        std::uint64_t tie;
        Index vertex;
        Index target;
    };

    void evict_from(const std::vector<Index>& members, const std::vector<Index>& takers, int turn) {
        std::vector<Eviction> evictions;
        FewSums few;
        SparseSums many;
        for (const Index vertex : members) {
            const Offset own = graph_.vertex_weights[vertex];
            if (own == 0) continue;
            const MoveChoice choice =
                choose(vertex, few, many, [&](Index part) { return weight_[part] + own <= heaviest_target_; });
            const std::uint64_t chance = tie(vertex, turn);
            const bool on_border = choice.part != stays;
            if (!on_border && takers.empty()) continue;
            const Index target = on_border ? choice.part : takers[chance % takers.size()];
            const double loss = on_border ? -static_cast<double>(choice.gain) / static_cast<double>(own) : 0;
            evictions.push_back({.on_border = on_border, .loss = loss, .tie = chance, .vertex = vertex, .target = target});
        }
        std::sort(evictions.begin(), evictions.end(), [](const Eviction& a, const Eviction& b) {
            return std::tuple(!a.on_border, a.loss, a.tie, a.vertex) < std::tuple(!b.on_border, b.loss, b.tie, b.vertex);
        });
        Offset left = weight_[part_of_[members.front()]];
        for (const Eviction& eviction : evictions) {
            if (left <= heaviest_) break;
            target_[eviction.vertex] = eviction.target;
            moved_[eviction.vertex] = 1;
            left -= graph_.vertex_weights[eviction.vertex];
        }
    }

    const AnyGraph& graph_;
    Partition& partition_;
    std::vector<Index>& part_of_;
    Offset heaviest_;
    const Refinement& refinement_;
    std::uint64_t seed_;
    VertexRuns runs_;
    std::vector<Offset> weight_;    // [parts]
    std::vector<Offset> arriving_;  // [parts] the weight of the moves that pay off
    HostArray<Index> target_;       // [vertices] the chosen part
    HostArray<Offset> gain_;        // [vertices] of vertices with a target
    HostArray<char> moved_;         // [vertices] in this turn; they rest in the next turn
    std::vector<char> stale_;       // [vertices] the neighbourhood has changed since the vertex chose
    HostArray<char> pays_;          // [vertices] the move reduces the cut, or keeps it
    Offset heaviest_target_ = 0;    // the maximum weight of a part that takes evicted vertices
};

}  // namespace

template <typename AnyGraph>
void refine_partition(const AnyGraph& graph, Partition& partition, Offset heaviest, const Refinement& refinement,
                      std::uint64_t seed) {
    Refiner(graph, partition, heaviest, refinement, seed).improve();
}

template <typename AnyGraph>
void measure_border(const AnyGraph& graph, Partition& partition) {
    partition.border.resize(graph.vertex_count());
    Offset ends = 0;
    VertexRuns(graph).for_each_run("measure_border", [&](Index first, Index last) {
        Offset sum = 0;
        for (Index vertex = first; vertex < last; ++vertex) {
            Offset outside = 0;
            for (const WeightedEdge edge : graph.edges_of(vertex)) {
                outside += partition.part_of[edge.to] != partition.part_of[vertex] ? edge.weight : 0;
            }
            partition.border[vertex] = outside > 0 ? 1 : 0;
            sum += outside;
        }
        Kokkos::atomic_add(&ends, sum);
    });
    partition.cut = ends / 2;
}

template void refine_partition(const UnitGraph&, Partition&, Offset, const Refinement&, std::uint64_t);
template void refine_partition(const WeightedGraph&, Partition&, Offset, const Refinement&, std::uint64_t);
template void measure_border(const UnitGraph&, Partition&);
template void measure_border(const WeightedGraph&, Partition&);

}  // namespace workbench
