// Louvain's order and Gorder: exact results on small graphs, and comparison with dense versions of both.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <ranges>
#include <string>
#include <vector>

#include "stages/graph.hpp"
#include "stages/graphs.hpp"

namespace workbench {
namespace {

/// The order of communities by a dense matrix of the edges between the vertices of a level. `members` lists the vertices of
/// the graph in each vertex of the level.
Indices louvain_by_the_book(const Graph& graph) {
    const Index vertices = graph.vertex_count();
    std::vector<std::vector<Offset>> edges(vertices, std::vector<Offset>(vertices, 0));
    std::vector<Indices> members;
    for (Index a = 0; a < vertices; ++a) {
        members.push_back({a});
        for (const Index b : graph.neighbours_of(a)) edges[a][b] = 1;
    }
    const auto strength = [&](std::size_t a) { return std::reduce(edges[a].begin(), edges[a].end()); };
    for (;;) {
        const std::size_t count = members.size();
        std::vector<std::size_t> community(count);
        std::iota(community.begin(), community.end(), 0);
        for (bool moved = true; moved;) {
            moved = false;
            for (std::size_t a = 0; a < count; ++a) {
                const auto gain = [&](std::size_t to) {  // of a in `to`, which it is not counted in
                    Offset weight = 0;
                    Offset others = 0;
                    for (std::size_t b = 0; b < count; ++b) {
                        if (b == a || community[b] != to) continue;
                        weight += edges[a][b];
                        others += strength(b);
                    }
                    return weight * graph.offsets.back() - strength(a) * others;
                };
                std::size_t best = community[a];
                for (std::size_t b = 0; b < count; ++b) {
                    if (edges[a][b] == 0 || b == a) continue;
                    const std::size_t other = community[b];
                    const bool smaller = best != community[a] && other < best;
                    if (gain(other) > gain(best) || (gain(other) == gain(best) && smaller)) best = other;
                }
                moved = moved || best != community[a];
                community[a] = best;
            }
        }
        // Communities in the order of their first vertices.
        std::vector<std::size_t> names;
        for (const std::size_t name : community) {
            if (std::ranges::find(names, name) == names.end()) names.push_back(name);
        }
        if (names.size() == count) break;
        std::vector<std::vector<Offset>> merged(names.size(), std::vector<Offset>(names.size(), 0));
        std::vector<Indices> merged_members(names.size());
        const auto number = [&](std::size_t a) { return std::ranges::find(names, community[a]) - names.begin(); };
        for (std::size_t a = 0; a < count; ++a) {
            for (std::size_t b = 0; b < count; ++b) merged[number(a)][number(b)] += edges[a][b];
            merged_members[number(a)].insert(merged_members[number(a)].end(), members[a].begin(), members[a].end());
        }
        edges = std::move(merged);
        members = std::move(merged_members);
    }
    Indices order;
    for (const Indices& of_one : members) order.insert(order.end(), of_one.begin(), of_one.end());
    return order;
}

}  // namespace

TEST_SUITE("louvain") {
    TEST_CASE("cliques in a ring are the communities, for any numbering") {
        for (const std::int64_t seed : {1, 2, 3}) {
            const Step step = run(louvain_stage(), {}, ring_of_cliques(9, 5, seed));
            CHECK_EQ(step.note("communities"), "9");
            // 9 cliques of 10 edges, and 9 edges between them: 90/99 - 9 (22/198)^2.
            CHECK_EQ(step.note("modularity"), "0.798");
            CHECK_EQ(share_near(step.after.matrix, 5), doctest::Approx(225.0 / 234));
        }
    }

    TEST_CASE("many small cliques join in pairs, whose rows are together on both levels") {
        // The resolution limit: with 40 cliques of 4, a pair gains modularity.
        const Step step = run(louvain_stage(), {}, ring_of_cliques(40, 4, 1));
        const Index communities = std::stoi(step.note("communities"));
        CHECK_LT(communities, 40);
        CHECK_GT(communities, 9);
        CHECK_GE(share_near(step.after.matrix, 4), doctest::Approx(640.0 / 680));
    }

    TEST_CASE("as in the paper, vertices move to the community with the largest gain, then communities do") {
        for (const StagedMatrix& before :
             {random_graph(120, 3), random_graph(75, 8), ring_of_cliques(40, 4, 1), scrambled(square_grid(11))}) {
            CHECK(run(louvain_stage(), {}, before).order() == louvain_by_the_book(adjacency_graph(before.matrix, 1)));
        }
    }

    TEST_CASE("isolated vertices are separate communities, and a star is one") {
        CHECK_EQ(run(louvain_stage(), {}, stage_input(diagonal(5))).note("communities"), "5");
        CHECK_EQ(run(louvain_stage(), {}, stage_input(diagonal(5))).note("modularity"), "0.000");
        CHECK(run(louvain_stage(), {}, stage_input(diagonal(5))).order() == Indices{0, 1, 2, 3, 4});
        CHECK_EQ(run(louvain_stage(), {}, graph_of(5, {{3, 0}, {3, 1}, {3, 2}, {3, 4}})).note("communities"), "1");
    }
}

TEST_SUITE("gorder") {
    TEST_CASE("as in the paper, the next vertex has the largest score with the last ones") {
        for (const std::int64_t window : {1, 3, 5, 200}) {
            for (const StagedMatrix& before :
                 {random_graph(120, 3), ring_of_cliques(9, 5, 1), scrambled(square_grid(11)), stage_input(diagonal(5))}) {
                const Graph graph = adjacency_graph(before.matrix, 1);
                const Index vertices = graph.vertex_count();
                const double hub = std::sqrt(static_cast<double>(vertices));
                const Indices order = run(gorder_stage(), {{"window", window}}, before).order();
                const auto adjacent = [&](Index a, Index b) { return std::ranges::binary_search(graph.neighbours_of(a), b); };
                const auto score_of_pair = [&](Index a, Index b) {
                    Index score = adjacent(a, b) ? 1 : 0;
                    for (const Index c : graph.neighbours_of(a)) score += graph.degree(c) <= hub && adjacent(c, b) ? 1 : 0;
                    return score;
                };
                CHECK_EQ(graph.degree(order[0]), std::ranges::max(std::views::transform(
                                                     std::views::iota(0, vertices), [&](Index v) { return graph.degree(v); })));
                std::vector<char> placed(vertices, 0);
                for (Index place = 0; place < vertices; ++place) {
                    const auto score = [&](Index vertex) {
                        Index sum = 0;
                        for (Index i = std::max<Index>(0, place - static_cast<Index>(window)); i < place; ++i) {
                            sum += score_of_pair(order[i], vertex);
                        }
                        return sum;
                    };
                    Index most = 0;
                    for (Index vertex = 0; vertex < vertices; ++vertex) {
                        if (placed[vertex] == 0) most = std::max(most, score(vertex));
                    }
                    CHECK_EQ(score(order[place]), most);
                    placed[order[place]] = 1;
                }
            }
        }
    }

    TEST_CASE("cliques in a ring stay together, and rows of a grid that was scrambled") {
        CHECK_GT(share_near(run(gorder_stage(), {}, ring_of_cliques(40, 8, 2)).after.matrix, 8), 0.7);
        const StagedMatrix grid = scrambled(square_grid(24));
        CHECK_GT(share_near(run(gorder_stage(), {}, grid).after.matrix, 32), 2.5 * share_near(grid.matrix, 32));
    }

    TEST_CASE("a common neighbour of very many vertices does not count") {
        // Vertex 0 is a neighbour of all 99 others; of these, 50 and 99 are neighbours, too.
        std::vector<std::pair<Index, Index>> edges{{50, 99}};
        for (Index i = 1; i < 100; ++i) edges.emplace_back(0, i);
        const Indices order = run(gorder_stage(), {{"window", 1}}, graph_of(100, edges)).order();
        CHECK_EQ(order[0], 0);
        const auto place = [&](Index vertex) { return std::ranges::find(order, vertex) - order.begin(); };
        CHECK_EQ(std::abs(place(50) - place(99)), 1);
    }
}

}  // namespace workbench
