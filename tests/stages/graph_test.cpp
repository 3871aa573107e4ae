// The graph of a matrix.
#include <doctest/doctest.h>

#include <set>
#include <vector>

#include "core/matrix/battery.hpp"
#include "stages/graph.hpp"
#include "stages/order.hpp"
#include "stages/steps.hpp"

namespace workbench {

TEST_SUITE("graph") {
    TEST_CASE("both directions, no self-loops, no duplicates") {
        const Graph graph = adjacency_graph(matrix_of(4, {{0, 2}, {2}, {1}, {3}}), 1);
        CHECK(graph.offsets == Offsets{0, 1, 2, 4, 4});
        CHECK(graph.neighbours == Indices{2, 2, 0, 1});
    }

    TEST_CASE("nodes of two rows") {
        const Graph graph = adjacency_graph(matrix_of(6, {{0, 1, 4}, {5}, {0, 1}, {2}, {}, {4}}), 2);
        CHECK(graph.offsets == Offsets{0, 2, 3, 4});
        CHECK(graph.neighbours == Indices{1, 2, 0, 0});
    }

    TEST_CASE("battery: compared with all pairs of rows and columns") {
        for (const NamedMatrix& named : battery()) {
            const CsrMatrix& matrix = named.matrix;
            if (!matrix.square()) continue;
            CAPTURE(named.name);
            for (const Index node_size : {1, 2, 3}) {
                if (matrix.rows % node_size != 0) continue;
                std::vector<std::set<Index>> expected(matrix.rows / node_size);
                for (Index i = 0; i < matrix.rows; ++i) {
                    for (const Index j : matrix.row_columns(i)) {
                        if (i / node_size == j / node_size) continue;
                        expected[i / node_size].insert(j / node_size);
                        expected[j / node_size].insert(i / node_size);
                    }
                }
                const Graph graph = adjacency_graph(matrix, node_size);
                REQUIRE(graph.vertex_count() == matrix.rows / node_size);
                for (Index v = 0; v < graph.vertex_count(); ++v) {
                    const auto neighbours = graph.neighbours_of(v);
                    CHECK(Indices(neighbours.begin(), neighbours.end()) == Indices(expected[v].begin(), expected[v].end()));
                }
            }
        }
    }

    TEST_CASE("expand turns a node order into a row order") {
        const Permutation rows = expand(Permutation::from_old_of_new({2, 0, 1}), 2);
        CHECK(rows == Permutation::from_old_of_new({4, 5, 0, 1, 2, 3}));
    }
}

}  // namespace workbench
