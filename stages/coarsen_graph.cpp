#include "stages/coarsen_graph.hpp"

#include <atomic>
#include <limits>
#include <utility>

#include "core/matrix/random.hpp"

namespace workbench {
namespace {

/// Vertices that request to join the clusters of leaders.
template <typename AnyGraph>
class Requests {
public:
    Requests(const AnyGraph& graph, Offset heaviest, std::uint64_t seed)
        : graph_(graph),
          heaviest_(heaviest),
          seed_(mixed(seed)),
          leader_of_(graph.vertex_count()),
          choice_(graph.vertex_count()),
          weight_(graph.vertex_count()),
          requested_(graph.vertex_count(), 0) {}

    [[nodiscard]] std::vector<Index> leaders() && { return std::move(leader_of_); }

protected:
    void make_singleton(Index vertex) {
        leader_of_[vertex] = vertex;
        weight_[vertex] = graph_.vertex_weights[vertex];
    }

    [[nodiscard]] bool is_singleton(Index vertex) const {
        return leader_of_[vertex] == vertex && weight_[vertex] == graph_.vertex_weights[vertex];
    }

    void request(Index vertex) { Kokkos::atomic_add(&requested_[choice_[vertex]], graph_.vertex_weights[vertex]); }

    /// The weight that a leader's cluster can still take.
    [[nodiscard]] Offset free_weight(Index leader) const { return heaviest_ - weight_[leader]; }

    /// Uniform in [0, 1).
    static double chance(std::uint64_t random) { return static_cast<double>(random >> 11) * 0x1p-53; }

    // NOLINTBEGIN(cppcoreguidelines-non-private-member-variables-in-classes): of the two classes below
    const AnyGraph& graph_;
    Offset heaviest_;
    std::uint64_t seed_;
    std::vector<Index> leader_of_;   // [vertices]
    std::vector<Index> choice_;      // [vertices] the leader whose cluster the vertex requests to join
    std::vector<Offset> weight_;     // [vertices] of the cluster of a leader
    std::vector<Offset> requested_;  // [vertices] the weight of the requests to a leader
    // NOLINTEND(cppcoreguidelines-non-private-member-variables-in-classes)
};

/// gather_along_heavy_edges.
template <typename AnyGraph>
class HeavyEdgeClustering : public Requests<AnyGraph> {
    using Base = Requests<AnyGraph>;
    using Base::chance, Base::free_weight, Base::is_singleton;
    using Base::choice_, Base::graph_, Base::heaviest_, Base::leader_of_, Base::requested_, Base::seed_, Base::weight_;

public:
    HeavyEdgeClustering(const AnyGraph& graph, Offset heaviest, std::uint64_t seed)
        : Base(graph, heaviest, seed), preferred_(graph.vertex_count(), none), accepted_(graph.vertex_count(), 0) {
        Kokkos::parallel_for("singletons", HostRange<>(0, graph.vertex_count()), [&](Index vertex) {
            this->make_singleton(vertex);
            choice_[vertex] = none;
        });
    }

    void gather() {
        for (Index round = 0; round < rounds; ++round) {
            request_to_join(round);
            for_requests("accept", round, [&](Index vertex) { accepted_[vertex] = may_join(vertex) ? 1 : 0; });
            for_requests("join", round, [&](Index vertex) { join(vertex); });
        }
    }

    /// Merges singletons that prefer the same cluster.
    void gather_over_two_hops() {
        std::vector<Index> singletons;
        for (Index vertex = 0; vertex < graph_.vertex_count(); ++vertex) {
            if (is_singleton(vertex) && preferred_[vertex] != none) singletons.push_back(vertex);
        }
        std::stable_sort(singletons.begin(), singletons.end(), [&](Index a, Index b) { return preferred_[a] < preferred_[b]; });
        Index leader = none;
        for (const Index vertex : singletons) {
            const Offset own = graph_.vertex_weights[vertex];
            if (leader != none && preferred_[leader] == preferred_[vertex] && weight_[leader] + own <= heaviest_) {
                leader_of_[vertex] = leader;
                weight_[leader] += own;
            } else {
                leader = vertex;
            }
        }
    }

    [[nodiscard]] Index count() const {
        Index clusters = 0;
        Kokkos::parallel_reduce(
            "clusters", HostRange<>(0, graph_.vertex_count()),
            [&](Index vertex, Index& sum) { sum += leader_of_[vertex] == vertex ? 1 : 0; }, clusters);
        return clusters;
    }

private:
    static constexpr Index none = -1;
    static constexpr Index rounds = 8;  // each of which considers one vertex of every block of 8

    /// The vertex of a block that a round considers. Vertices with adjacent numbers, which are often neighbours, are never
    /// considered in the same round.
    [[nodiscard]] Index vertex_of_round(Index block, Index round) const {
        return block * rounds + static_cast<Index>((mixed(seed_ ^ static_cast<std::uint64_t>(block)) + round) % rounds);
    }

    template <typename Body>
    void for_requests(const char* name, Index round, const Body& body) const {
        const Index vertices = graph_.vertex_count();
        Kokkos::parallel_for(name, HostRange<>(0, vertices / rounds + 1), [&, round](Index block) {
            const Index vertex = vertex_of_round(block, round);
            if (vertex < vertices && choice_[vertex] != none) body(vertex);
        });
    }

    void request_to_join(Index round) {
        const Index vertices = graph_.vertex_count();
        for_vertex_runs("request", vertices / rounds + 1, [&, round](Index first, Index last) {
            SparseSums coupling;
            for (Index block = first; block < last; ++block) {
                const Index vertex = vertex_of_round(block, round);
                if (vertex < vertices && is_singleton(vertex)) request_to_join(vertex, coupling);
            }
        });
    }

    void request_to_join(Index vertex, SparseSums& coupling) {
        const auto edges = graph_.edges_of(vertex);
        if (edges.empty()) return;
        const Offset own = graph_.vertex_weights[vertex];
        coupling.start(edges.size());
        for (const WeightedEdge edge : edges) coupling.add(leader_of_[edge.to], edge.weight);
        double best = -1;
        double best_of_all = -1;
        std::uint64_t best_tie = 0;
        coupling.visit([&](Index cluster, Offset sum) {
            const double rating = static_cast<double>(sum) / static_cast<double>(weight_[cluster]);
            if (rating > best_of_all) {
                best_of_all = rating;
                preferred_[vertex] = cluster;
            }
            if (own > free_weight(cluster) || rating < best) return;
            const std::uint64_t tie = tie_of(vertex, cluster);
            if (rating == best && tie < best_tie) return;
            best = rating;
            best_tie = tie;
            choice_[vertex] = cluster;
        });
        if (choice_[vertex] != none) this->request(vertex);
    }

    /// A tie-breaker that is symmetric, so that two vertices which prefer each other agree.
    [[nodiscard]] std::uint64_t tie_of(Index a, Index b) const {
        return mixed(seed_ + (static_cast<std::uint64_t>(std::min(a, b)) << 32) + static_cast<std::uint64_t>(std::max(a, b)));
    }

    [[nodiscard]] bool may_join(Index vertex) const {
        const Index leader = choice_[vertex];
        // A leader that requests another vertex may join that one instead. If two vertices request each other, the one with the
        // smaller number joins the other.
        if (choice_[leader] != none && !(choice_[leader] == vertex && leader > vertex)) return false;
        const Offset free = free_weight(leader);
        if (requested_[leader] <= free) return true;
        // A random choice that fills the free weight on average.
        return chance(tie_of(vertex, leader)) < static_cast<double>(free) / static_cast<double>(requested_[leader]);
    }

    void join(Index vertex) {
        const Index leader = choice_[vertex];
        if (accepted_[vertex] != 0) {
            leader_of_[vertex] = leader;
            Kokkos::atomic_add(&weight_[leader], graph_.vertex_weights[vertex]);
        }
        std::atomic_ref(requested_[leader]).store(0, std::memory_order_relaxed);
        choice_[vertex] = none;
    }

    std::vector<Index> preferred_;  // [vertices] the best leader, regardless of its weight
    std::vector<char> accepted_;    // [vertices]
};

/// Numbers the clusters in the order of their leaders; vertices without edges are in none.
template <typename AnyGraph>
Clusters numbered(const AnyGraph& graph, const std::vector<Index>& leader_of) {
    const Index vertices = graph.vertex_count();
    Clusters clusters{std::vector<Index>(vertices), 0};
    std::vector<Index> number(vertices);
    Kokkos::parallel_scan(
        "number_leaders", HostRange<>(0, vertices),
        [&](Index vertex, Index& next, bool last) {
            if (leader_of[vertex] != vertex || graph.edges_of(vertex).empty()) return;
            if (last) number[vertex] = next;
            ++next;
        },
        clusters.count);
    Kokkos::parallel_for("number_followers", HostRange<>(0, vertices), [&](Index vertex) {
        clusters.of[vertex] = graph.edges_of(vertex).empty() ? -1 : number[leader_of[vertex]];
    });
    return clusters;
}

/// gather_around_leaders.
template <typename AnyGraph>
class LeaderClustering : public Requests<AnyGraph> {
    using Base = Requests<AnyGraph>;
    using Base::chance, Base::free_weight, Base::is_singleton;
    using Base::choice_, Base::graph_, Base::leader_of_, Base::requested_, Base::seed_, Base::weight_;

public:
    using Base::Base;

    void gather() {
        for_all("follow_leaders", [this](Index vertex) { choice_[vertex] = adjacent_leader(vertex); });
        for_all("singletons", [this](Index vertex) { this->make_singleton(vertex); });
        join();
        for_all("follow_followers", [this](Index vertex) { choice_[vertex] = leader_of_neighbour(vertex); });
        join();
    }

private:
    /// Leaders are the vertices of at least this rank: one in four.
    static constexpr std::uint64_t least_of_leaders = 0 - (0 - std::uint64_t{1}) / 4;

    template <typename Body>
    void for_all(const char* name, const Body& body) const {
        Kokkos::parallel_for(name, UnevenHostRange<>(0, graph_.vertex_count()).set_chunk_size(1024), body);
    }

    [[nodiscard]] std::uint64_t rank(Index vertex) const { return mixed(seed_ ^ static_cast<std::uint64_t>(vertex)); }

    /// The adjacent leader of highest rank; the vertex itself if it leads, or if there is none.
    [[nodiscard]] Index adjacent_leader(Index vertex) const {
        if (rank(vertex) >= least_of_leaders) return vertex;
        std::uint64_t best = least_of_leaders;
        Index choice = vertex;
        for (const WeightedEdge edge : graph_.edges_of(vertex)) {
            const std::uint64_t found = rank(edge.to);
            if (found < best) continue;
            best = found;
            choice = edge.to;
        }
        return choice;
    }

    /// For a singleton, the leader of highest rank that a neighbour follows; the vertex itself if there is none.
    [[nodiscard]] Index leader_of_neighbour(Index vertex) const {
        if (!is_singleton(vertex)) return vertex;
        std::uint64_t best = 0;
        Index choice = vertex;
        for (const WeightedEdge edge : graph_.edges_of(vertex)) {
            const Index leader = leader_of_[edge.to];
            const bool fits = graph_.vertex_weights[vertex] <= free_weight(leader);
            if (leader == edge.to || !fits || rank(leader) < best) continue;
            best = rank(leader);
            choice = leader;
        }
        return choice;
    }

    /// Accepts all requests to a leader, or a random choice that fills its free weight on average.
    void join() {
        for_all("request", [this](Index vertex) {
            if (choice_[vertex] != vertex) this->request(vertex);
        });
        for_all("accept", [this](Index vertex) {
            const Index leader = choice_[vertex];
            if (leader == vertex) return;
            const Offset free = free_weight(leader);
            const double draw = chance(mixed(seed_ + rank(vertex)));
            if (requested_[leader] <= free || draw * static_cast<double>(requested_[leader]) < static_cast<double>(free)) {
                leader_of_[vertex] = leader;
            }
        });
        for_all("join", [this](Index vertex) {
            const Index leader = choice_[vertex];
            if (leader == vertex) return;
            std::atomic_ref(requested_[leader]).store(0, std::memory_order_relaxed);
            if (leader_of_[vertex] == leader) Kokkos::atomic_add(&weight_[leader], graph_.vertex_weights[vertex]);
        });
    }
};

}  // namespace

template <typename AnyGraph>
Clusters gather_around_leaders(const AnyGraph& graph, Offset heaviest, std::uint64_t seed) {
    LeaderClustering<AnyGraph> clustering(graph, heaviest, seed);
    clustering.gather();
    return numbered(graph, std::move(clustering).leaders());
}

template <typename AnyGraph>
Clusters gather_along_heavy_edges(const AnyGraph& graph, Offset heaviest, std::uint64_t seed) {
    HeavyEdgeClustering clustering(graph, heaviest, seed);
    clustering.gather();
    if (clustering.count() > graph.vertex_count() / 4 * 3) clustering.gather_over_two_hops();
    return numbered(graph, std::move(clustering).leaders());
}

template <typename AnyGraph>
WeightedGraph contract(const AnyGraph& graph, const Clusters& clusters) {
    const Index vertices = graph.vertex_count();
    const std::vector<Index>& cluster_of = clusters.of;
    // The members of the clusters, which are sorted below.
    std::vector<Offset> first(static_cast<std::size_t>(clusters.count) + 1, 0);
    Kokkos::parallel_for("count_members", HostRange<>(0, vertices), [&](Index vertex) {
        if (cluster_of[vertex] >= 0) Kokkos::atomic_add(&first[cluster_of[vertex] + 1], Offset{1});
    });
    sum_up(first);
    std::vector<Offset> next(first.begin(), first.end() - 1);
    std::vector<Index> members(first.back());
    Kokkos::parallel_for("list_members", HostRange<>(0, vertices), [&](Index vertex) {
        if (cluster_of[vertex] >= 0) members[Kokkos::atomic_fetch_add(&next[cluster_of[vertex]], Offset{1})] = vertex;
    });
    WeightedGraph coarse;
    coarse.vertex_weights.assign(clusters.count, 0);
    std::vector<Offset> place(static_cast<std::size_t>(clusters.count) + 1, 0);  // of edges, with gaps
    Kokkos::parallel_for("sort_members", HostRange<>(0, clusters.count), [&](Index cluster) {
        std::sort(members.begin() + first[cluster], members.begin() + first[cluster + 1]);
        for (Offset i = first[cluster]; i < first[cluster + 1]; ++i) {
            coarse.vertex_weights[cluster] += graph.vertex_weights[members[i]];
            place[cluster + 1] += static_cast<Offset>(graph.edges_of(members[i]).size());
        }
    });
    sum_up(place);

    constexpr Offset ahead = 6;  // the adjacency lists of the members are scattered in memory
    HostArray<WeightedEdge> edges = unwritten_array<WeightedEdge>(graph.ends());
    coarse.offsets.assign(static_cast<std::size_t>(clusters.count) + 1, 0);
    for_vertex_runs("sum_up_edges", clusters.count, [&](Index begin, Index end) {
        SparseSums coupling;
        std::vector<WeightedEdge> listed;
        for (Index cluster = begin; cluster < end; ++cluster) {
            const auto most = static_cast<std::size_t>(place[cluster + 1] - place[cluster]);
            coupling.start(std::min(most, static_cast<std::size_t>(clusters.count)));
            // A list decouples these scattered reads from the searches in the hash table, which would delay them.
            if (most > listed.size()) listed.resize(most);
            std::size_t count = 0;
            for (Offset i = first[cluster]; i < first[cluster + 1]; ++i) {
                if (i + ahead < first.back()) graph.prefetch(members[i + ahead]);
                for (const WeightedEdge edge : graph.edges_of(members[i])) {
                    const Index other = cluster_of[edge.to];
                    listed[count] = {other, edge.weight};
                    count += other != cluster ? 1 : 0;
                }
            }
            for (std::size_t i = 0; i < count; ++i) coupling.add(listed[i].to, listed[i].weight);
            WeightedEdge* edge = edges.data() + place[cluster];
            coupling.visit([&](Index other, Offset sum) {
                *edge++ = {other, static_cast<Index>(std::min<Offset>(sum, std::numeric_limits<Index>::max()))};
            });
            coarse.offsets[cluster + 1] = static_cast<Offset>(coupling.count());
        }
    });
    sum_up(coarse.offsets);
    make_room(coarse.edges, coarse.offsets.back());
    Kokkos::parallel_for("close_gaps", UnevenHostRange<>(0, clusters.count), [&](Index cluster) {
        std::copy_n(edges.data() + place[cluster], coarse.edges_of(cluster).size(),
                    coarse.edges.data() + coarse.offsets[cluster]);
    });
    return coarse;
}

template Clusters gather_around_leaders(const UnitGraph&, Offset, std::uint64_t);
template Clusters gather_around_leaders(const WeightedGraph&, Offset, std::uint64_t);
template Clusters gather_along_heavy_edges(const UnitGraph&, Offset, std::uint64_t);
template Clusters gather_along_heavy_edges(const WeightedGraph&, Offset, std::uint64_t);
template WeightedGraph contract(const UnitGraph&, const Clusters&);
template WeightedGraph contract(const WeightedGraph&, const Clusters&);

}  // namespace workbench
