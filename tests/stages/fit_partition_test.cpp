// Moves vertices of a partition until every part fits.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <vector>

#include "core/matrix/battery.hpp"
#include "stages/fit_partition.hpp"
#include "stages/steps.hpp"

namespace workbench {
namespace {

Graph path_graph(Index vertices) {
    std::vector<Indices> rows(vertices);
    for (Index i = 0; i + 1 < vertices; ++i) rows[i] = {i + 1};
    return adjacency_graph(matrix_of(vertices, rows), 1);
}

}  // namespace

TEST_SUITE("fit_partition") {
    TEST_CASE("an overfull part passes vertices on across its borders") {
        const Graph graph = path_graph(9);
        Indices part_of{0, 0, 0, 0, 1, 1, 1, 2, 2};
        fit_partition(graph, part_of, 3, 3);
        CHECK(part_of == Indices{0, 0, 0, 1, 1, 1, 2, 2, 2});
        CHECK(edge_cut(graph, part_of) == 2);
    }

    TEST_CASE("the vertex that increases the cut least moves") {
        // 0 and 3 are both adjacent to the other part, but 0 has three neighbours on its own side and 3 has one.
        const Graph graph = adjacency_graph(matrix_of(6, {{1, 2, 3, 4}, {2}, {}, {5}, {}, {}}), 1);
        Indices part_of{0, 0, 0, 0, 1, 1};
        fit_partition(graph, part_of, 2, 3);
        CHECK(part_of == Indices{0, 0, 0, 1, 1, 1});
        CHECK(edge_cut(graph, part_of) == 2);
    }

    TEST_CASE("a vertex follows its neighbour") {
        // 1 moves first. Then 2 has both of its neighbours there, and 0 its only one.
        const Graph graph = adjacency_graph(matrix_of(10, {{7}, {2, 7, 8, 9}, {7}, {4}, {5}, {6}, {}, {}, {}, {}}), 1);
        Indices part_of{0, 0, 0, 0, 0, 0, 0, 1, 1, 1};
        fit_partition(graph, part_of, 2, 5);
        CHECK(part_of == Indices{0, 1, 1, 0, 0, 0, 0, 1, 1, 1});
    }

    TEST_CASE("without a path across borders, a whole neighbourhood moves") {
        const Graph graph = adjacency_graph(matrix_of(4, {{2}, {3}, {}, {}}), 1);
        Indices part_of{0, 0, 0, 0};
        fit_partition(graph, part_of, 2, 2);
        CHECK(part_of == Indices{1, 0, 1, 0});
        CHECK(edge_cut(graph, part_of) == 0);
    }

    TEST_CASE("vertices without edges go to the smallest parts") {
        const Graph graph = adjacency_graph(matrix_of(7, {{1}, {}, {}, {}, {}, {}, {}}), 1);
        Indices part_of(7, 0);
        fit_partition(graph, part_of, 3, 3);
        CHECK(part_of == Indices{0, 0, 1, 2, 1, 2, 0});
    }

    TEST_CASE("every initial partition is made to fit, and a partition that fits does not change") {
        for (const NamedMatrix& named : battery()) {
            const CsrMatrix& matrix = named.matrix;
            if (!matrix.square() || matrix.rows == 0) continue;
            CAPTURE(named.name);
            const Graph graph = adjacency_graph(matrix, 1);
            for (const Index parts : {1, 2, 5, 16}) {
                const Index capacity = (graph.vertex_count() + parts - 1) / parts;
                Indices all_in_one(graph.vertex_count(), parts - 1);
                Indices uneven(graph.vertex_count());
                for (Index v = 0; v < graph.vertex_count(); ++v) uneven[v] = (v * v + v / 3) % parts;
                for (Indices& part_of : {std::ref(all_in_one), std::ref(uneven)}) {
                    fit_partition(graph, part_of, parts, capacity);
                    for (Index part = 0; part < parts; ++part) {
                        CHECK(std::count(part_of.begin(), part_of.end(), part) <= capacity);
                    }
                    const Indices fitting = part_of;
                    fit_partition(graph, part_of, parts, capacity);
                    for (Index v = 0; v < graph.vertex_count(); ++v) {
                        if (graph.degree(v) > 0) CHECK(part_of[v] == fitting[v]);
                    }
                }
            }
        }
    }

    TEST_CASE("too little capacity is a program error") {
        Indices part_of(3, 0);
        CHECK_THROWS_AS(fit_partition(path_graph(3), part_of, 2, 1), std::logic_error);
    }
}

}  // namespace workbench
