// Places of vertices for drawing.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/matrix/random.hpp"
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
        const auto is_in_grid = [&](double NodePlace::*axis) {
            const auto less = [axis](const NodePlace& a, const NodePlace& b) { return a.*axis < b.*axis; };
            const auto [low, high] = std::minmax_element(places.begin(), places.end() - 1, less);
            return places[1600].*axis > (*low).*axis && places[1600].*axis < (*high).*axis;
        };
        CHECK_FALSE((is_in_grid(&NodePlace::x) && is_in_grid(&NodePlace::y)));
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

    TEST_CASE("components have boxes of their own, close together") {
        // A path of 60, a cycle of 7, 40 pairs and 200 single vertices, numbered at random.
        constexpr Index count = 60 + 7 + 2 * 40 + 200;
        std::vector<Index> component(count);
        std::vector<Entry> entries;
        const Permutation order = random_permutation(count, 5);
        const auto connect = [&](Index a, Index b) { entries.push_back({order.new_of_old(a), order.new_of_old(b), 1}); };
        for (Index i = 1; i < 60; ++i) connect(i - 1, i);
        for (Index i = 0; i < 7; ++i) connect(60 + i, 60 + (i + 1) % 7);
        for (Index i = 0; i < 40; ++i) connect(67 + 2 * i, 68 + 2 * i);
        for (Index i = 0; i < count; ++i) {
            component[order.new_of_old(i)] = i < 60 ? 0 : i < 67 ? 1 : i < 147 ? 2 + (i - 67) / 2 : i;
        }
        const std::vector<NodePlace> places = place_vertices(adjacency_graph(csr_from_entries(count, count, entries), 1));
        struct Around {
            double left = 1e9, right = -1e9, top = 1e9, bottom = -1e9;
        };
        std::vector<Around> boxes(count);
        Around all;
        for (Index i = 0; i < count; ++i) {
            for (Around* box : {&boxes[component[i]], &all}) {
                *box = {std::min(box->left, places[i].x), std::max(box->right, places[i].x), std::min(box->top, places[i].y),
                        std::max(box->bottom, places[i].y)};
            }
        }
        double area = 0;
        for (Index a = 0; a < count; ++a) {
            if (boxes[a].right < boxes[a].left) continue;
            area += (boxes[a].right - boxes[a].left + 1) * (boxes[a].bottom - boxes[a].top + 1);
            for (Index b = 0; b < a; ++b) {
                const double gap = a >= 147 && b >= 147 ? 0.45 : 0.9;  // of two single vertices, of which there are many
                const bool apart = boxes[a].right + gap < boxes[b].left || boxes[b].right + gap < boxes[a].left ||
                                   boxes[a].bottom + gap < boxes[b].top || boxes[b].bottom + gap < boxes[a].top;
                CHECK(apart);
            }
        }
        const double width = all.right - all.left;
        const double height = all.bottom - all.top;
        CHECK(width * height < 2 * area);
        CHECK(width < 2.5 * height);
        CHECK(height < 2 * width);
        CHECK(boxes[0].top < all.top + 1);  // the largest first
    }

    TEST_CASE("many vertices without edges are closer to each other than to neighbours") {
        constexpr Index chain = 60;
        constexpr Index count = 300;
        std::vector<Entry> entries;
        for (Index i = 1; i < chain; ++i) {
            entries.push_back({i - 1, i, 1});
            entries.push_back({i, i - 1, 1});
        }
        const std::vector<NodePlace> places = place_vertices(adjacency_graph(csr_from_entries(count, count, entries), 1));
        double nearest = 1e9;
        for (Index a = chain; a < count; ++a) {
            for (Index b = 0; b < a; ++b)
                nearest = std::min(nearest, std::hypot(places[a].x - places[b].x, places[a].y - places[b].y));
        }
        CHECK(nearest > 0.45);
        CHECK(nearest < 0.6);
    }

    TEST_CASE("boxes are packed on shelves without overlap") {
        CHECK(pack_boxes({}, 1).empty());
        std::vector<BoxSize> boxes{{10, 10}};
        CHECK(pack_boxes(boxes, 1).front().left == 0);
        for (int i = 0; i < 400; ++i) boxes.push_back({0.5 + i % 7, 0.5 + i % 5});
        const std::vector<BoxPlace> places = pack_boxes(boxes, 1.5);
        double area = 0;
        double width = 0;
        double height = 0;
        for (std::size_t a = 0; a < boxes.size(); ++a) {
            const BoxPlace& at = places[a];
            area += boxes[a].width * boxes[a].height;
            width = std::max(width, at.left + boxes[a].width);
            height = std::max(height, at.top + boxes[a].height);
            for (std::size_t b = 0; b < a; ++b) {
                const bool apart =
                    at.left + boxes[a].width <= places[b].left + 1e-9 || places[b].left + boxes[b].width <= at.left + 1e-9 ||
                    at.top + boxes[a].height <= places[b].top + 1e-9 || places[b].top + boxes[b].height <= at.top + 1e-9;
                CHECK(apart);
            }
        }
        CHECK(width * height < 1.2 * area);
        CHECK(width / height > 1.2);
        CHECK(width / height < 1.9);
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
