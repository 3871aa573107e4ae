// The orders of reordering studies: exact results on small graphs, comparison with brute force, and the purpose of each order.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "core/matrix/battery.hpp"
#include "core/matrix/metrics.hpp"
#include "core/matrix/random.hpp"
#include "stages/graph.hpp"
#include "stages/graphs.hpp"
#include "stages/levels.hpp"
#include "stages/stages.hpp"
#include "stages/steps.hpp"

namespace workbench {
namespace {

std::vector<StageEntry> symmetric_orders() {
    return {approximate_minimum_degree_stage(),
            nested_dissection_stage(),
            degree_sort_stage(),
            king_stage(),
            sloan_stage(),
            rabbit_order_stage(),
            louvain_stage(),
            gorder_stage()};
}

std::vector<StageEntry> all_orders() {
    std::vector<StageEntry> orders = symmetric_orders();
    orders.push_back(gray_stage());
    return orders;
}

/// The nonzeros of the Cholesky factor, including the diagonal, by symbolic elimination.
Offset factor_nonzeros(const CsrMatrix& matrix) {
    const Graph graph = adjacency_graph(matrix, 1);
    std::vector<std::set<Index>> later(matrix.rows);
    for (Index v = 0; v < matrix.rows; ++v) {
        for (const Index u : graph.neighbours_of(v)) {
            if (u > v) later[v].insert(u);
        }
    }
    Offset nonzeros = matrix.rows;
    for (Index v = 0; v < matrix.rows; ++v) {
        nonzeros += static_cast<Offset>(later[v].size());
        if (later[v].empty()) continue;
        const Index first = *later[v].begin();
        later[first].insert(std::next(later[v].begin()), later[v].end());
    }
    return nonzeros;
}

Offset profile(const StagedMatrix& staged) { return measure(staged).profile; }

/// Sloan's algorithm as in the paper, with a linear search for the next vertex.
Indices sloan_by_the_book(const Graph& graph, std::int64_t distance_weight, std::int64_t front_weight) {
    LevelSearch search(graph);
    const Index start = search.pseudo_peripheral(0);
    search.from(start);
    const Index levels = search.from(search.farthest());
    enum { inactive, preactive, active, postactive };
    std::vector<int> state(graph.vertex_count(), inactive);
    std::vector<std::int64_t> priority(graph.vertex_count());
    for (Index level = 0; level < levels; ++level) {
        for (const Index v : search.level(level)) priority[v] = distance_weight * level - front_weight * (graph.degree(v) + 1);
    }
    const auto raise = [&](Index v) {
        if (state[v] == postactive) return;
        priority[v] += front_weight;
        if (state[v] == inactive) state[v] = preactive;
    };
    state[start] = preactive;
    Indices order;
    while (order.size() < state.size()) {
        Index next = -1;
        for (Index v = 0; v < graph.vertex_count(); ++v) {
            const bool waits = state[v] == preactive || state[v] == active;
            if (waits && (next < 0 || priority[v] > priority[next])) next = v;
        }
        if (state[next] == preactive) {
            for (const Index other : graph.neighbours_of(next)) raise(other);
        }
        state[next] = postactive;
        order.push_back(next);
        for (const Index other : graph.neighbours_of(next)) {
            if (state[other] != preactive) continue;
            state[other] = active;
            priority[other] += front_weight;
            for (const Index third : graph.neighbours_of(other)) raise(third);
        }
    }
    return order;
}

}  // namespace

TEST_SUITE("orders") {
    TEST_CASE("battery: orders are complete and reproducible, with and without nodes") {
        for (const StageEntry& stage : all_orders()) {
            for (const NamedMatrix& named : battery()) {
                CAPTURE(stage.name);
                CAPTURE(named.name);
                const CsrMatrix& matrix = named.matrix;
                if (stage.name != "gray" && !matrix.square()) continue;
                for (const Index node_size : {1, 2}) {
                    if (node_size > 1 && (!matrix.square() || matrix.rows % node_size != 0)) continue;
                    const StagedMatrix before = stage_input(matrix, node_size);
                    const Step step = run(stage, {}, before);
                    CHECK_NOTHROW(check_invariants(step.after, matrix));
                    CHECK_EQ(step.order().size(), static_cast<std::size_t>(matrix.rows));
                    CHECK(run(stage, {}, before).order() == step.order());
                }
            }
        }
    }

    TEST_CASE("hubs and many components do not take quadratic time") {
        constexpr Index size = 200000;
        std::vector<std::pair<Index, Index>> star;
        for (Index leaf = 1; leaf < size; ++leaf) star.emplace_back(0, leaf);
        std::vector<std::pair<Index, Index>> pairs;
        for (Index i = 0; i + 3 < size; i += 4) pairs.emplace_back(i, i + 3);  // and as many isolated vertices
        const StagedMatrix hub = graph_of(size, star);
        const StagedMatrix components = graph_of(size, pairs);
        for (const StageEntry& stage : all_orders()) {
            CAPTURE(stage.name);
            for (const StagedMatrix* before : {&hub, &components}) {
                CHECK_EQ(run(stage, {}, *before).order().size(), size);
            }
        }
    }

    TEST_CASE("a symmetric order needs a square matrix") {
        for (const StageEntry& stage : symmetric_orders()) CHECK(contract_of(stage, {}).needs.square);
        CHECK_FALSE(contract_of(gray_stage(), {}).needs.square);
        CHECK(contract_of(gray_stage(), {{"apply", "symmetric"}}).needs.square);
    }
}

TEST_SUITE("approximate_minimum_degree") {
    TEST_CASE("the hub of a star is among the last two vertices") {
        const Indices order =
            run(approximate_minimum_degree_stage(), {}, graph_of(5, {{0, 1}, {0, 2}, {0, 3}, {0, 4}})).order();
        CHECK_GE(std::find(order.begin(), order.end(), 0) - order.begin(), 3);
    }

    TEST_CASE("the factor of a grid has much less fill-in than in natural order, and the note is an upper bound") {
        const CsrMatrix matrix = square_grid(24);
        const Step step = run(approximate_minimum_degree_stage(), {}, stage_input(matrix));
        const Offset filled = factor_nonzeros(step.after.matrix);
        CHECK_LT(filled * 2, factor_nonzeros(matrix));
        const Offset bound = std::stoll(step.note("nonzeros of a Cholesky factor, at most"));
        CHECK_LE(filled, bound);
        CHECK_LE(bound, filled + filled / 10);
        CHECK(step.note("nonzeros of a Cholesky factor, at most") == std::to_string(bound));
        const Step of_nodes = run(approximate_minimum_degree_stage(), {}, stage_input(matrix, 2));
        CHECK(of_nodes.note("nonzeros of a Cholesky factor, at most").ends_with(", of nodes"));
    }

    TEST_CASE("a tree has no fill-in") {
        std::vector<std::pair<Index, Index>> edges;
        for (Index i = 1; i < 200; ++i) edges.emplace_back(i, static_cast<Index>(mixed(i) % i));
        const StagedMatrix tree = graph_of(200, edges);
        CHECK_EQ(factor_nonzeros(run(approximate_minimum_degree_stage(), {}, tree).after.matrix), 399);
    }

    TEST_CASE("dense rows are put last, and noted") {
        std::vector<std::pair<Index, Index>> star;
        for (Index leaf = 1; leaf < 100; ++leaf) star.emplace_back(0, leaf);
        const Step step = run(approximate_minimum_degree_stage(), {{"dense", 1.0}}, graph_of(100, star));
        CHECK_EQ(step.note("dense rows, put last"), "1");
        CHECK_EQ(step.order().back(), 0);
        CHECK(run(approximate_minimum_degree_stage(), {}, graph_of(10, {{0, 1}})).result.notes.size() == 1);
    }
}

TEST_SUITE("nested_dissection") {
    TEST_CASE("the factor of a grid has much less fill-in than in natural order") {
        const CsrMatrix matrix = square_grid(24);
        const Step step = run(nested_dissection_stage(), {}, stage_input(matrix));
        CHECK_LT(factor_nonzeros(step.after.matrix) * 2, factor_nonzeros(matrix));
    }

    TEST_CASE("isolated rows come last, in order") {
        const Indices order = run(nested_dissection_stage(), {}, graph_of(6, {{1, 4}, {4, 5}})).order();
        CHECK_EQ(Indices(order.begin() + 3, order.end()), Indices{0, 2, 3});
        CHECK_EQ(run(nested_dissection_stage(), {}, stage_input(diagonal(4))).order(), Indices{0, 1, 2, 3});
    }

    TEST_CASE("another seed gives another order") {
        const StagedMatrix before = stage_input(square_grid(20));
        CHECK(run(nested_dissection_stage(), {{"seed", std::int64_t{2}}}, before).order() !=
              run(nested_dissection_stage(), {}, before).order());
    }
}

TEST_SUITE("degree_sort") {
    TEST_CASE("vertices are sorted by degree, and ties keep their order") {
        // Degrees 1, 3, 2, 1, 1, 0; the diagonal does not count, and an entry with its mirror image counts once.
        const StagedMatrix before = stage_input(matrix_of(6, {{1}, {0, 1, 2, 3}, {4}, {}, {}, {5}}));
        CHECK(run(degree_sort_stage(), {}, before).order() == Indices{1, 2, 0, 3, 4, 5});
        CHECK(run(degree_sort_stage(), {{"order", "ascending"}}, before).order() == Indices{5, 0, 3, 4, 2, 1});
    }

    TEST_CASE("the degree of a node is the number of adjacent nodes") {
        const StagedMatrix before = graph_of(3, {{1, 2}, {0, 2}}, 2);
        CHECK(run(degree_sort_stage(), {}, before).order() == Indices{4, 5, 0, 1, 2, 3});
    }
}

TEST_SUITE("gray") {
    TEST_CASE("consecutive codes differ in one bit") {
        // A row for each subset of three columns, in the order 000, 001, 010, ...
        std::vector<Indices> rows;
        for (Index subset = 0; subset < 8; ++subset) {
            rows.emplace_back();
            for (Index column = 0; column < 3; ++column) {
                if ((subset >> (2 - column) & 1) != 0) rows.back().push_back(column);
            }
        }
        const StagedMatrix before = stage_input(matrix_of(3, rows));
        const Step step = run(gray_stage(), {{"segments", std::int64_t{3}}}, before);
        CHECK(step.order() == Indices{0, 1, 3, 2, 6, 7, 5, 4});
        CHECK(step.after.column_order.is_identity());
        CHECK_EQ(step.note("dense rows"), "0");
    }

    TEST_CASE("a segment has one bit, and ties keep their order") {
        // Segments 0-1, 2-3, 4: bits 100, 010, 001. The codes 001, 100, 001, 110, 100 have the places 1, 7, 1, 4, 7.
        const StagedMatrix before = stage_input(matrix_of(5, {{4}, {0, 1}, {4}, {1, 2}, {1}}));
        CHECK(run(gray_stage(), {{"segments", std::int64_t{3}}}, before).order() == Indices{0, 2, 3, 1, 4});
    }

    TEST_CASE("dense rows come first, in descending order") {
        const StagedMatrix before = stage_input(matrix_of(4, {{0}, {0, 1, 2}, {3}, {0, 1, 2, 3}, {0, 2, 3}}));
        const Step step = run(gray_stage(), {{"segments", std::int64_t{4}}, {"dense_row", std::int64_t{3}}}, before);
        CHECK(step.order() == Indices{3, 1, 4, 2, 0});
        CHECK_EQ(step.note("dense rows"), "3");
        // There are two nodes of two rows each, and the second node is dense.
        const StagedMatrix nodes = stage_input(matrix_of(4, {{0}, {}, {0, 1, 2}, {0, 1, 3}}), 2);
        CHECK_EQ(run(gray_stage(), {{"segments", std::int64_t{4}}, {"dense_row", std::int64_t{3}}}, nodes).note("dense rows"),
                 "2");
    }

    TEST_CASE("64 bits, more segments than columns, and a symmetric order") {
        const StagedMatrix before = stage_input(matrix_of(2, {{0}, {1}, {}}));
        CHECK(run(gray_stage(), {{"segments", std::int64_t{64}}}, before).order() == Indices{2, 1, 0});
        std::vector<Indices> rows(64);
        for (Index row = 0; row < 64; ++row) rows[row] = {row};
        Indices descending(64);
        std::iota(descending.rbegin(), descending.rend(), 0);
        const Step step =
            run(gray_stage(), {{"segments", std::int64_t{64}}, {"apply", "symmetric"}}, stage_input(matrix_of(64, rows)));
        CHECK(step.order() == descending);
        CHECK(step.after.row_order == step.after.column_order);
    }

    TEST_CASE("a node has one code") {
        const StagedMatrix before = stage_input(matrix_of(4, {{0}, {3}, {2}, {3}}), 2);
        // The nodes have the codes 11 and 01, with the places 2 and 1.
        CHECK(run(gray_stage(), {{"segments", std::int64_t{2}}, {"apply", "symmetric"}}, before).order() ==
              Indices{2, 3, 0, 1});
    }
}

TEST_SUITE("king") {
    TEST_CASE("a path is numbered in one direction, and components one by one") {
        CHECK(run(king_stage(), {}, graph_of(4, {{0, 2}, {0, 3}, {1, 3}})).order() == Indices{1, 3, 0, 2});
        const Step step = run(king_stage(), {}, graph_of(6, {{0, 3}, {2, 4}}));
        CHECK(step.order() == Indices{0, 3, 1, 2, 4, 5});
        CHECK_EQ(step.note("connected components"), "4");
    }

    TEST_CASE("the next vertex adds the fewest vertices to the front; the one that waits longest wins ties") {
        for (const std::int64_t seed : {1, 2, 3}) {
            const StagedMatrix before = seed == 1   ? scrambled(square_grid(9))
                                        : seed == 2 ? random_graph(150, 7)
                                                    : ring_of_cliques(6, 5, seed);
            const Graph graph = adjacency_graph(before.matrix, 1);
            const Indices order = run(king_stage(), {}, before).order();
            std::vector<int> state(graph.vertex_count(), 0);  // 1: in the front, 2: numbered
            std::vector<Index> front{order.front()};          // in the order of entry
            state[order.front()] = 1;
            for (const Index numbered : order) {
                const auto outside = [&](Index vertex) {
                    const auto around = graph.neighbours_of(vertex);
                    return std::count_if(around.begin(), around.end(), [&](Index other) { return state[other] == 0; });
                };
                const auto least =
                    std::min_element(front.begin(), front.end(), [&](Index a, Index b) { return outside(a) < outside(b); });
                REQUIRE_EQ(*least, numbered);
                front.erase(least);
                state[numbered] = 2;
                for (const Index other : graph.neighbours_of(numbered)) {
                    if (state[other] != 0) continue;
                    state[other] = 1;
                    front.push_back(other);
                }
            }
        }
    }

    TEST_CASE("the profile of a scrambled grid is at most that of Cuthill-McKee") {
        for (const std::int64_t seed : {1, 2, 3}) {
            const StagedMatrix before = scrambled(square_grid(20), seed);
            const StagedMatrix rcm = run(cuthill_mckee_stage(), {}, before).after;
            CHECK_LE(profile(run(king_stage(), {}, before).after), profile(rcm) * 1.02);
        }
    }
}

TEST_SUITE("sloan") {
    TEST_CASE("a path is numbered in one direction, and components one by one") {
        CHECK(run(sloan_stage(), {}, graph_of(4, {{0, 2}, {0, 3}, {1, 3}})).order() == Indices{1, 3, 0, 2});
        const Step step = run(sloan_stage(), {}, graph_of(6, {{0, 3}, {2, 4}}));
        CHECK(step.order() == Indices{0, 3, 1, 2, 4, 5});
        CHECK_EQ(step.note("connected components"), "4");
    }

    TEST_CASE("leaves are numbered when the front passes them") {
        // A path 0 - 1 - 2 - 3 - 4 - 5 with a leaf 6 at 2: the order starts at an end, and the leaf is cheapest right after 2.
        const Indices order = run(sloan_stage(), {}, graph_of(7, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {2, 6}})).order();
        const auto place = [&order](Index vertex) { return std::find(order.begin(), order.end(), vertex) - order.begin(); };
        CHECK_LE(std::abs(place(6) - place(2)), 2);
    }

    TEST_CASE("the profile is at most that of Cuthill-McKee, on grids and on rings of cliques") {
        for (const std::int64_t seed : {1, 2, 3}) {
            for (const StagedMatrix& before : {scrambled(square_grid(20), seed), ring_of_cliques(12, 6, seed)}) {
                const StagedMatrix rcm = run(cuthill_mckee_stage(), {}, before).after;
                CHECK_LE(profile(run(sloan_stage(), {}, before).after), profile(rcm) * 1.02);
            }
        }
    }

    TEST_CASE("the order is that of the paper, for any weights, and depends on them") {
        std::set<Indices> different;
        for (const StagedMatrix& before : {random_graph(150, 1), random_graph(60, 2), scrambled(square_grid(9))}) {
            const Graph graph = adjacency_graph(before.matrix, 1);
            for (const auto& [distance, front] :
                 std::vector<std::pair<std::int64_t, std::int64_t>>{{2, 1}, {0, 1}, {1, 50}, {1, 0}}) {
                const Indices order =
                    run(sloan_stage(), {{"distance_weight", distance}, {"front_weight", front}}, before).order();
                CHECK(order == sloan_by_the_book(graph, distance, front));
                different.insert(order);
            }
        }
        CHECK_GE(different.size(), 10);
    }
}

TEST_SUITE("rabbit_order") {
    TEST_CASE("two cliques that are connected by one edge") {
        for (const std::int64_t seed : {1, 2, 3, 4}) {
            // Numbers alternate between the cliques.
            std::vector<std::pair<Index, Index>> edges{{0, 1}};
            for (Index i = 0; i < 10; ++i) {
                for (Index k = i + 2; k < 10; k += 2) edges.emplace_back(i, k);
            }
            const StagedMatrix before = scrambled(graph_of(10, edges).matrix, seed);
            const Step step = run(rabbit_order_stage(), {}, before);
            CHECK_EQ(step.note("communities"), "2");
            CHECK_EQ(share_near(step.after.matrix, 5), doctest::Approx(20.0 / 21));
        }
    }

    TEST_CASE("cliques in a ring are found for any numbering") {
        for (const std::int64_t seed : {1, 2, 3}) {
            const StagedMatrix before = ring_of_cliques(40, 8, seed);
            CHECK_LT(share_near(before.matrix, 8), 0.2);
            const Step step = run(rabbit_order_stage(), {}, before);
            // Adjacent cliques may be in the same community, but no clique is split.
            CHECK_GT(share_near(step.after.matrix, 8), 0.95);
        }
    }

    TEST_CASE("as in the paper, each vertex joins the community with the largest gain of modularity") {
        for (const StagedMatrix& before : {random_graph(120, 3), ring_of_cliques(9, 5, 1), scrambled(square_grid(11))}) {
            const Graph graph = adjacency_graph(before.matrix, 1);
            const Index vertices = graph.vertex_count();
            const Permutation shuffled = random_permutation(vertices, 1);
            Indices turns(shuffled.old_of_new().begin(), shuffled.old_of_new().end());
            std::stable_sort(turns.begin(), turns.end(), [&](Index a, Index b) { return graph.degree(a) < graph.degree(b); });
            Indices community(vertices);  // of each vertex, identified by its root
            std::iota(community.begin(), community.end(), 0);
            std::vector<Indices> members(vertices);  // in depth-first order of the dendrogram
            for (Index vertex = 0; vertex < vertices; ++vertex) members[vertex] = {vertex};
            for (const Index vertex : turns) {
                std::vector<Offset> edges(vertices, 0);
                std::vector<Offset> strength(vertices, 0);
                for (Index a = 0; a < vertices; ++a) {
                    strength[community[a]] += graph.degree(a);
                    if (community[a] != vertex) continue;
                    for (const Index b : graph.neighbours_of(a)) ++edges[community[b]];
                }
                Index best = -1;
                Offset best_gain = 0;
                for (Index other = 0; other < vertices; ++other) {
                    const Offset gain = edges[other] * graph.offsets.back() - strength[vertex] * strength[other];
                    if (other == vertex || edges[other] == 0 || gain <= best_gain) continue;
                    best = other;
                    best_gain = gain;
                }
                if (best < 0) continue;
                for (const Index member : members[vertex]) community[member] = best;
                members[best].insert(members[best].end(), members[vertex].begin(), members[vertex].end());
            }
            Indices order;
            for (Index vertex = 0; vertex < vertices; ++vertex) {
                if (community[vertex] == vertex) order.insert(order.end(), members[vertex].begin(), members[vertex].end());
            }
            CHECK(run(rabbit_order_stage(), {}, before).order() == order);
        }
    }

    TEST_CASE("isolated vertices are separate communities, and a star is one") {
        CHECK_EQ(run(rabbit_order_stage(), {}, stage_input(diagonal(5))).note("communities"), "5");
        CHECK(run(rabbit_order_stage(), {}, stage_input(diagonal(5))).order() == Indices{0, 1, 2, 3, 4});
        CHECK_EQ(run(rabbit_order_stage(), {}, graph_of(5, {{3, 0}, {3, 1}, {3, 2}, {3, 4}})).note("communities"), "1");
    }
}

}  // namespace workbench
