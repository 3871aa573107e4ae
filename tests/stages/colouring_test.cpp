// The stage colouring.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "core/matrix/battery.hpp"
#include "core/matrix/random.hpp"
#include "stages/graph.hpp"
#include "stages/stages.hpp"
#include "stages/steps.hpp"

namespace workbench {
namespace {

/// The ring 0 - 3 - 4 - 1 - 2 - 5, each edge stored in one direction.
StagedMatrix ring(Index node_size = 1) {
    std::vector<Entry> entries;
    for (const auto& [row, column] : {std::pair{0, 3}, {4, 3}, {4, 1}, {1, 2}, {2, 5}, {0, 5}}) {
        entries.push_back({row * node_size, column * node_size + node_size - 1, 1});
    }
    return stage_input(csr_from_entries(6 * node_size, 6 * node_size, entries), node_size);
}

const std::vector<Index>& begins_of(const Step& step) { return step.after.find_cuts(CutKind::partition)->boundaries; }

/// The largest of the least degrees in the graph, after one vertex of the least degree after another is removed.
Index degeneracy(const Graph& graph) {
    std::vector<Index> degrees;
    for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) degrees.push_back(graph.degree(vertex));
    constexpr Index removed = std::numeric_limits<Index>::max();
    Index largest = 0;
    for (Index i = 0; i < graph.vertex_count(); ++i) {
        const auto least = std::min_element(degrees.begin(), degrees.end());
        largest = std::max(largest, *least);
        *least = removed;
        for (const Index other : graph.neighbours_of(static_cast<Index>(least - degrees.begin()))) {
            if (degrees[other] != removed) --degrees[other];
        }
    }
    return largest;
}

}  // namespace

TEST_SUITE("colouring") {
    TEST_CASE("a ring of six in its own order has three colours, with the smallest degree last two") {
        const Step natural = run(colouring_stage(), {{"sequence", "natural"}}, ring());
        CHECK(natural.order() == Indices{0, 1, 2, 3, 4, 5});
        CHECK(begins_of(natural) == Indices{0, 2, 4, 6});
        CHECK_EQ(natural.note("colours"), "3");
        const Step last = run(colouring_stage(), {}, ring());
        CHECK(last.order() == Indices{0, 2, 4, 1, 3, 5});
        CHECK(begins_of(last) == Indices{0, 3, 6});
        CHECK_EQ(last.note("colours"), "2");
        CHECK_EQ(last.note("rows of a colour, at most"), "3");
    }

    TEST_CASE("the rows of a node have one colour") {
        const Step step = run(colouring_stage(), {}, ring(2));
        CHECK(step.order() == Indices{0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11});
        CHECK(begins_of(step) == Indices{0, 6, 12});
    }

    TEST_CASE("a diagonal matrix has one colour, a full matrix one for each row, an empty matrix none") {
        CHECK_EQ(run(colouring_stage(), {}, stage_input(diagonal(5))).note("colours"), "1");
        const CsrMatrix full = matrix_of(3, {{0, 1, 2}, {0, 1, 2}, {0, 1, 2}});
        CHECK_EQ(run(colouring_stage(), {}, stage_input(full)).note("colours"), "3");
        CHECK_EQ(run(colouring_stage(), {}, stage_input(diagonal(0))).note("colours"), "0");
    }

    TEST_CASE("on the battery no row is coupled with another of its colour, and there are no more colours than promised") {
        for (const NamedMatrix& named : battery()) {
            if (!named.matrix.square()) continue;
            CAPTURE(named.name);
            const StagedMatrix before = stage_input(named.matrix);
            const Graph graph = adjacency_graph(named.matrix, 1);
            for (const char* sequence : {"smallest_last", "natural"}) {
                CAPTURE(sequence);
                const Step step = run(colouring_stage(), {{"sequence", sequence}}, before);
                const std::vector<Index>& begins = begins_of(step);
                const auto colour_of = [&](Index row) { return std::ranges::upper_bound(begins, row) - begins.begin(); };
                const CsrMatrix& matrix = step.after.matrix;
                Offset coupled = 0;
                for (Index row = 0; row < matrix.rows; ++row) {
                    for (const Index column : matrix.row_columns(row)) {
                        coupled += row != column && colour_of(row) == colour_of(column) ? 1 : 0;
                    }
                }
                CHECK_EQ(coupled, 0);
                const bool last = std::string(sequence) == "smallest_last";
                if (last && matrix.rows > 0) CHECK_LE(static_cast<Index>(begins.size()) - 1, degeneracy(graph) + 1);
                CHECK(std::ranges::adjacent_find(begins, std::greater_equal{}) == begins.end());  // no colour is empty
            }
        }
    }
}

}  // namespace workbench
