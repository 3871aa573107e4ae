#include "stages/coarsen_graph.hpp"

#include <limits>
#include <utility>

#include "pipeline/matrix/random.hpp"

namespace workbench {
namespace {

using Range = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<Index>>;
using UnevenRange =
    Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<Index>>;

/// Each round asks one vertex of every block of so many.
constexpr Index rounds = 8;

template <typename AnyGraph>
class Clustering {
public:
    Clustering(const AnyGraph& graph, Offset heaviest, std::uint64_t seed)
        : graph_(graph),
          heaviest_(heaviest),
          seed_(mixed(seed)),
          cluster_of_(graph.vertex_count()),
          weight_(graph.vertex_weights),
          wish_(graph.vertex_count(), nobody),
          favourite_(graph.vertex_count(), nobody),
          asked_(graph.vertex_count(), 0),
          accepted_(graph.vertex_count(), 0) {
        Kokkos::parallel_for("alone", Range(0, graph.vertex_count()), [&](Index vertex) { cluster_of_[vertex] = vertex; });
    }

    void gather() {
        for (Index round = 0; round < rounds; ++round) {
            ask(round);
            for_round("accept", round, [&](Index vertex) { accepted_[vertex] = may_join(vertex) ? 1 : 0; });
            for_round("join", round, [&](Index vertex) { join(vertex); });
        }
    }

    /// Those that are alone and have the same favourite become clusters of their own.
    void gather_over_two_hops() {
        std::vector<Index> alone;
        for (Index vertex = 0; vertex < graph_.vertex_count(); ++vertex) {
            if (is_alone(vertex) && favourite_[vertex] != nobody) alone.push_back(vertex);
        }
        std::stable_sort(alone.begin(), alone.end(), [&](Index a, Index b) { return favourite_[a] < favourite_[b]; });
        Index leader = nobody;
        for (const Index vertex : alone) {
            const Offset own = graph_.vertex_weights[vertex];
            if (leader != nobody && favourite_[leader] == favourite_[vertex] && weight_[leader] + own <= heaviest_) {
                cluster_of_[vertex] = leader;
                weight_[leader] += own;
            } else {
                leader = vertex;
            }
        }
    }

    [[nodiscard]] Index count() const {
        Index clusters = 0;
        Kokkos::parallel_reduce(
            "clusters", Range(0, graph_.vertex_count()),
            [&](Index vertex, Index& sum) { sum += cluster_of_[vertex] == vertex ? 1 : 0; }, clusters);
        return clusters;
    }

    [[nodiscard]] std::vector<Index> leaders() && { return std::move(cluster_of_); }

private:
    static constexpr Index nobody = -1;

    /// Nobody joined it, and it joined nobody.
    [[nodiscard]] bool is_alone(Index vertex) const {
        return cluster_of_[vertex] == vertex && weight_[vertex] == graph_.vertex_weights[vertex];
    }

    /// The vertex of a block that a round asks: neighbours by number never together, others by chance.
    [[nodiscard]] Index asked_of_block(Index block, Index round) const {
        return block * rounds + static_cast<Index>((mixed(seed_ ^ static_cast<std::uint64_t>(block)) + round) % rounds);
    }

    template <typename Body>
    void for_round(const char* name, Index round, const Body& body) const {
        const Index vertices = graph_.vertex_count();
        Kokkos::parallel_for(name, Range(0, vertices / rounds + 1), [&, round](Index block) {
            const Index vertex = asked_of_block(block, round);
            if (vertex < vertices && wish_[vertex] != nobody) body(vertex);
        });
    }

    void ask(Index round) {
        const Index vertices = graph_.vertex_count();
        for_vertex_runs("ask", vertices / rounds + 1, [&, round](Index first, Index last) {
            SparseSums coupling;
            for (Index block = first; block < last; ++block) {
                const Index vertex = asked_of_block(block, round);
                if (vertex < vertices && is_alone(vertex)) ask_vertex(vertex, coupling);
            }
        });
    }

    void ask_vertex(Index vertex, SparseSums& coupling) {
        const auto edges = graph_.edges_of(vertex);
        if (edges.empty()) return;
        const Offset own = graph_.vertex_weights[vertex];
        coupling.start(edges.size());
        for (const WeightedEdge edge : edges) coupling.add(cluster_of_[edge.to], edge.weight);
        double best = -1;
        double best_of_all = -1;
        std::uint64_t best_tie = 0;
        coupling.visit([&](Index cluster, Offset sum) {
            const double rating = static_cast<double>(sum) / static_cast<double>(weight_[cluster]);
            if (rating > best_of_all) {
                best_of_all = rating;
                favourite_[vertex] = cluster;
            }
            if (weight_[cluster] + own > heaviest_ || rating < best) return;
            const std::uint64_t tie = tie_of(vertex, cluster);
            if (rating == best && tie < best_tie) return;
            best = rating;
            best_tie = tie;
            wish_[vertex] = cluster;
        });
        if (wish_[vertex] != nobody) Kokkos::atomic_add(&asked_[wish_[vertex]], own);
    }

    /// The same from both sides, so that two vertices which both prefer each other agree.
    [[nodiscard]] std::uint64_t tie_of(Index a, Index b) const {
        return mixed(seed_ + (static_cast<std::uint64_t>(std::min(a, b)) << 32) + static_cast<std::uint64_t>(std::max(a, b)));
    }

    [[nodiscard]] bool may_join(Index vertex) const {
        const Index leader = wish_[vertex];
        if (wish_[leader] != nobody && !(wish_[leader] == vertex && leader > vertex)) return false;  // it may leave
        const Offset room = heaviest_ - weight_[leader];
        if (asked_[leader] <= room) return true;
        // By chance, so many as fill the room about.
        const auto share = static_cast<double>(room) / static_cast<double>(asked_[leader]);
        return static_cast<double>(tie_of(vertex, leader) >> 11) * 0x1p-53 < share;
    }

    void join(Index vertex) {
        const Index leader = wish_[vertex];
        if (accepted_[vertex] != 0) {
            cluster_of_[vertex] = leader;
            Kokkos::atomic_add(&weight_[leader], graph_.vertex_weights[vertex]);
        }
        Kokkos::atomic_assign(&asked_[leader], Offset{0});
        wish_[vertex] = nobody;
    }

    const AnyGraph& graph_;
    Offset heaviest_;
    std::uint64_t seed_;
    std::vector<Index> cluster_of_;  // of each vertex, the vertex that leads its cluster
    std::vector<Offset> weight_;     // of the cluster that a vertex leads
    std::vector<Index> wish_;        // the leader that a vertex asks for in this round
    std::vector<Index> favourite_;   // the leader that it would ask for if there were room
    std::vector<Offset> asked_;      // of each leader, the weight of those who ask for it in this round
    std::vector<char> accepted_;
};

/// Clusters by the vertices that lead them; the vertices without edges are in none.
template <typename AnyGraph>
Clusters numbered(const AnyGraph& graph, const std::vector<Index>& leader_of) {
    const Index vertices = graph.vertex_count();
    Clusters clusters{std::vector<Index>(vertices), 0};
    std::vector<Index> number(vertices);
    Kokkos::parallel_scan(
        "number_leaders", Range(0, vertices),
        [&](Index vertex, Index& next, bool last) {
            if (leader_of[vertex] != vertex || graph.edges_of(vertex).empty()) return;
            if (last) number[vertex] = next;
            ++next;
        },
        clusters.count);
    Kokkos::parallel_for("number_followers", Range(0, vertices), [&](Index vertex) {
        clusters.of[vertex] = graph.edges_of(vertex).empty() ? -1 : number[leader_of[vertex]];
    });
    return clusters;
}

/// One vertex in so many leads.
constexpr std::uint64_t followers_and_leader = 4;

template <typename AnyGraph>
class Following {
public:
    Following(const AnyGraph& graph, Offset heaviest, std::uint64_t seed)
        : graph_(graph),
          heaviest_(heaviest),
          seed_(mixed(seed)),
          leader_of_(graph.vertex_count()),
          wish_(graph.vertex_count()),
          weight_(graph.vertex_count(), 0),
          asked_(graph.vertex_count(), 0) {}

    std::vector<Index> gather() && {
        for_all("follow_leaders", [this](Index vertex) { wish_[vertex] = first_choice(vertex); });
        for_all("weigh_alone", [this](Index vertex) {
            leader_of_[vertex] = vertex;
            weight_[vertex] = graph_.vertex_weights[vertex];
        });
        join();
        for_all("follow_followers", [this](Index vertex) { wish_[vertex] = second_choice(vertex); });
        join();
        return std::move(leader_of_);
    }

private:
    template <typename Body>
    void for_all(const char* name, const Body& body) const {
        Kokkos::parallel_for(name, UnevenRange(0, graph_.vertex_count()).set_chunk_size(1024), body);
    }

    [[nodiscard]] std::uint64_t rank(Index vertex) const { return mixed(seed_ ^ static_cast<std::uint64_t>(vertex)); }
    static constexpr std::uint64_t least_of_leaders = 0 - (0 - std::uint64_t{1}) / followers_and_leader;

    [[nodiscard]] Index first_choice(Index vertex) const {
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

    [[nodiscard]] Index second_choice(Index vertex) const {
        const Offset own = graph_.vertex_weights[vertex];
        if (leader_of_[vertex] != vertex || weight_[vertex] != own) return vertex;  // not alone
        std::uint64_t best = 0;
        Index choice = vertex;
        for (const WeightedEdge edge : graph_.edges_of(vertex)) {
            const Index leader = leader_of_[edge.to];
            if (leader == edge.to || weight_[leader] + own > heaviest_ || rank(leader) < best) continue;
            best = rank(leader);
            choice = leader;
        }
        return choice;
    }

    /// Wishes come true; where too many want to follow one leader, for so many as there is room for about, by chance.
    void join() {
        for_all("ask", [this](Index vertex) {
            if (wish_[vertex] != vertex) Kokkos::atomic_add(&asked_[wish_[vertex]], graph_.vertex_weights[vertex]);
        });
        for_all("choose", [this](Index vertex) {
            const Index leader = wish_[vertex];
            if (leader == vertex) return;
            const Offset room = heaviest_ - weight_[leader];
            const auto chance = static_cast<double>(mixed(seed_ + rank(vertex)) >> 11) * 0x1p-53;
            if (asked_[leader] <= room || chance * static_cast<double>(asked_[leader]) < static_cast<double>(room)) {
                leader_of_[vertex] = leader;
            }
        });
        for_all("join", [this](Index vertex) {
            const Index leader = wish_[vertex];
            if (leader == vertex) return;
            Kokkos::atomic_assign(&asked_[leader], Offset{0});
            if (leader_of_[vertex] == leader) Kokkos::atomic_add(&weight_[leader], graph_.vertex_weights[vertex]);
        });
    }

    const AnyGraph& graph_;
    Offset heaviest_;
    std::uint64_t seed_;
    std::vector<Index> leader_of_;
    std::vector<Index> wish_;
    std::vector<Offset> weight_;  // of the cluster that a vertex leads
    std::vector<Offset> asked_;   // of each leader, the weight of those who want to follow it
};

}  // namespace

template <typename AnyGraph>
Clusters gather_around_leaders(const AnyGraph& graph, Offset heaviest, std::uint64_t seed) {
    return numbered(graph, Following(graph, heaviest, seed).gather());
}

template <typename AnyGraph>
Clusters gather_along_heavy_edges(const AnyGraph& graph, Offset heaviest, std::uint64_t seed) {
    Clustering clustering(graph, heaviest, seed);
    clustering.gather();
    if (clustering.count() > graph.vertex_count() / 4 * 3) clustering.gather_over_two_hops();
    return numbered(graph, std::move(clustering).leaders());
}

template <typename AnyGraph>
WeightedGraph contract(const AnyGraph& graph, const Clusters& clusters) {
    const Index vertices = graph.vertex_count();
    const std::vector<Index>& cluster_of = clusters.of;
    // The members of each cluster, in order.
    std::vector<Offset> first(static_cast<std::size_t>(clusters.count) + 1, 0);
    Kokkos::parallel_for("count_members", Range(0, vertices), [&](Index vertex) {
        if (cluster_of[vertex] >= 0) Kokkos::atomic_add(&first[cluster_of[vertex] + 1], Offset{1});
    });
    sum_up(first);
    std::vector<Offset> next(first.begin(), first.end() - 1);
    std::vector<Index> members(first.back());
    Kokkos::parallel_for("list_members", Range(0, vertices), [&](Index vertex) {
        if (cluster_of[vertex] >= 0) members[Kokkos::atomic_fetch_add(&next[cluster_of[vertex]], Offset{1})] = vertex;
    });
    WeightedGraph coarse;
    coarse.vertex_weights.assign(clusters.count, 0);
    std::vector<Offset> place(static_cast<std::size_t>(clusters.count) + 1, 0);  // of edges while their number is not known
    Kokkos::parallel_for("sort_members", Range(0, clusters.count), [&](Index cluster) {
        std::sort(members.begin() + first[cluster], members.begin() + first[cluster + 1]);
        for (Offset i = first[cluster]; i < first[cluster + 1]; ++i) {
            coarse.vertex_weights[cluster] += graph.vertex_weights[members[i]];
            place[cluster + 1] += static_cast<Offset>(graph.edges_of(members[i]).size());
        }
    });
    sum_up(place);

    constexpr Offset ahead = 6;  // the rows of a cluster lie anywhere in memory
    const RawArray<WeightedEdge> edges(graph.ends());
    coarse.offsets.assign(static_cast<std::size_t>(clusters.count) + 1, 0);
    for_vertex_runs("sum_up_edges", clusters.count, [&](Index begin, Index end) {
        SparseSums coupling;
        std::vector<WeightedEdge> listed;
        for (Index cluster = begin; cluster < end; ++cluster) {
            const auto most = static_cast<std::size_t>(place[cluster + 1] - place[cluster]);
            coupling.start(std::min(most, static_cast<std::size_t>(clusters.count)));
            // Listed first: these reads of memory need not wait for each other, as they would between searches in the table.
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
    coarse.edges = RawArray<WeightedEdge>(coarse.offsets.back());
    Kokkos::parallel_for("close_gaps", UnevenRange(0, clusters.count), [&](Index cluster) {
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
