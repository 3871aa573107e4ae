// Places of vertices for drawing.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "pipeline/matrix/random.hpp"
#include "stages/vertex_places.hpp"

namespace workbench {
namespace {

double between(const NodePlace& a, const NodePlace& b) { return std::hypot(a.x - b.x, a.y - b.y); }

/// A grid of `side` x `side` vertices, numbered at random, and one vertex without edges at the end.
Graph scrambled_grid(Index side) {
    const Permutation order = random_permutation(side * side, 3);
    std::vector<Entry> entries;
    for (Index i = 0; i < side * side; ++i) {
        const auto add = [&](Index other) { entries.push_back({order.new_of_old(i), order.new_of_old(other), 1}); };
        add(i);
        if (i % side + 1 < side) add(i + 1);
        if (i + side < side * side) add(i + side);
    }
    return adjacency_graph(csr_from_entries(side * side + 1, side * side + 1, entries), 1);
}

}  // namespace

TEST_SUITE("places of vertices") {
    TEST_CASE("neighbours are near each other, and no two vertices are at one place") {
        const Graph graph = scrambled_grid(40);
        const std::vector<NodePlace> places = place_vertices(graph);
        REQUIRE(places.size() == 1601);
        double edges = 0;
        double longest = 0;
        double nearest = 1e9;
        double pairs = 0;
        for (Index a = 0; a < 1600; ++a) {
            for (const Index b : graph.neighbours_of(a)) {
                edges += between(places[a], places[b]) / static_cast<double>(graph.neighbours.size());
                longest = std::max(longest, between(places[a], places[b]));
            }
            for (Index b = 0; b < a; ++b) {
                nearest = std::min(nearest, between(places[a], places[b]));
                pairs += between(places[a], places[b]) / (1600.0 * 1599 / 2);
            }
        }
        CHECK(edges < 5);
        CHECK(edges > 0.5);
        CHECK(longest < 3 * edges);
        CHECK(nearest > 0.1);
        CHECK(pairs > 15 * edges);  // unfolded: 40 x 40 places have a mean distance of 21
        CHECK(places[1600].y >
              std::max_element(places.begin(), places.end() - 1, [](const auto& a, const auto& b) { return a.y < b.y; })->y);
    }

    TEST_CASE("every graph has finite places, the same each time") {
        for (const std::vector<Entry>& entries : {std::vector<Entry>{},
                                                  {{0, 1, 1}},
                                                  {{0, 1, 1}, {2, 3, 1}, {4, 5, 1}},
                                                  {{0, 1, 1}, {0, 2, 1}, {0, 3, 1}, {0, 4, 1}}}) {
            const Graph graph = adjacency_graph(csr_from_entries(7, 7, entries), 1);
            const std::vector<NodePlace> places = place_vertices(graph);
            const std::vector<NodePlace> again = place_vertices(graph);
            for (std::size_t i = 0; i < 7; ++i) {
                CHECK(std::isfinite(places[i].x));
                CHECK(std::isfinite(places[i].y));
                CHECK(places[i].x == again[i].x);
                CHECK(places[i].y == again[i].y);
                for (std::size_t k = 0; k < i; ++k) CHECK(between(places[i], places[k]) > 0.2);
            }
        }
        CHECK(place_vertices(adjacency_graph(csr_from_entries(0, 0, {}), 1)).empty());
    }

    TEST_CASE("a star with 3,000 points, which coarsening cannot pair") {
        std::vector<Entry> entries;
        for (Index i = 1; i <= 3000; ++i) entries.push_back({0, i, 1});
        const std::vector<NodePlace> places = place_vertices(adjacency_graph(csr_from_entries(3001, 3001, entries), 1));
        CHECK(std::all_of(places.begin(), places.end(),
                          [&](const NodePlace& place) { return between(place, places[0]) < 200 && std::isfinite(place.x); }));
    }
}

}  // namespace workbench
