// The stage node_blocks: nodes that it detects, and nodes that it does not.
#include <doctest/doctest.h>

#include <vector>

#include "core/contract/errors.hpp"
#include "core/matrix/battery.hpp"
#include "stages/stages.hpp"
#include "stages/steps.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

/// A ring of nodes, each coupled to itself and to its two neighbours by full blocks. The rows in `fixed` have only their
/// diagonal.
CsrMatrix ring_of_nodes(Index nodes, Index size, const std::vector<Index>& fixed = {}) {
    std::vector<Entry> entries;
    for (Index row = 0; row < nodes * size; ++row) {
        if (std::find(fixed.begin(), fixed.end(), row) != fixed.end()) {
            entries.push_back({row, row, 1});
            continue;
        }
        for (const Index neighbour : {row / size + nodes - 1, row / size, row / size + 1}) {
            for (Index c = 0; c < size; ++c) entries.push_back({row, neighbour % nodes * size + c, 2});
        }
    }
    return csr_from_entries(nodes * size, nodes * size, entries);
}

Index found(const StagedMatrix& before, const Given& given = {}) {
    return run(node_blocks_stage(), given, before).after.node_size;
}

}  // namespace

TEST_SUITE("node_blocks") {
    TEST_CASE("full blocks of every size") {
        for (const Index size : {1, 2, 3, 4, 6}) {
            const Step step = run(node_blocks_stage(), {}, stage_input(ring_of_nodes(12, size)));
            CHECK(step.after.node_size == size);
            CHECK(step.note("unknowns a node") == std::to_string(size));
            CHECK(step.result.notes.size() == (size == 1 ? 1 : 2));
            if (size > 1) CHECK(step.note("blocks") == "36, 100.0 % full");
        }
    }

    TEST_CASE("rows of boundary conditions do not prevent detection") {
        const Step step = run(node_blocks_stage(), {}, stage_input(ring_of_nodes(40, 3, {0, 1, 2, 7, 60, 61, 62})));
        CHECK(step.after.node_size == 3);
        CHECK(step.note("unknowns a node") == "3");
        // 1080 values minus 8 in each of 7 rows, in 120 blocks minus 2 for each of the two nodes that are fixed completely.
        CHECK(step.note("blocks") == "116, 98.1 % full");
        CHECK(!step.result.change.order);
    }

    TEST_CASE("half-empty blocks are no nodes") {
        std::vector<Entry> entries;
        for (Index row = 0; row < 12; ++row) {
            for (Index column = row % 2; column < 12; column += 2) entries.push_back({row, column, 1});
        }
        CHECK(found(stage_input(csr_from_entries(12, 12, entries))) == 1);
    }

    TEST_CASE("rectangular and empty matrices, and a number of rows without divisors") {
        CHECK(found(stage_input(csr_from_entries(0, 0, {}))) == 1);
        CHECK(found(stage_input(csr_from_entries(4, 6, {}))) == 1);
        CHECK(found(stage_input(csr_from_entries(6, 6, {}))) == 1);  // all sizes need the same: no bytes
        std::vector<Entry> entries;
        for (Index row = 0; row < 7; ++row) {
            for (Index column = 0; column < 7; ++column) entries.push_back({row, column, 1});
        }
        CHECK(found(stage_input(csr_from_entries(7, 7, entries))) == 1);
    }

    TEST_CASE("a given size") {
        CHECK(found(stage_input(ring_of_nodes(12, 3)), {{"unknowns", 6_i}}) == 6);
        CHECK(found(stage_input(ring_of_nodes(12, 3), 3), {{"unknowns", 1_i}}) == 1);
        const std::string message = message_of<Unsuitable>([] { (void)found(stage_input(diagonal(7)), {{"unknowns", 2_i}}); });
        CHECK(message ==
              "a matrix of 7 x 7, in its current order, cannot be divided into nodes of 2 consecutive rows (unknowns)");
    }

    TEST_CASE("the node size of the recipe is kept") {
        const Step step = run(node_blocks_stage(), {}, stage_input(ring_of_nodes(12, 6), 2));
        CHECK(step.after.node_size == 2);
        CHECK(step.note("unknowns a node") == "2, from [matrix]");
    }

    TEST_CASE("nodes that an earlier order has split are not detected") {
        const StagedMatrix torn = run(random_order_stage(), {{"seed", 3_i}}, stage_input(ring_of_nodes(2, 3))).after;
        CHECK(found(torn) == 1);  // the matrix is full in any order
        CHECK(found(stage_input(torn.matrix)) == 6);
        const StagedMatrix of_rows =
            run(random_order_stage(), {{"seed", 3_i}, {"apply", "rows"}}, stage_input(ring_of_nodes(2, 3))).after;
        CHECK(found(of_rows) == 1);
    }

    TEST_CASE("the battery keeps its invariants") {
        for (const NamedMatrix& named : battery()) {
            CAPTURE(named.name);
            const Step step = run(node_blocks_stage(), {}, stage_input(named.matrix));
            CHECK_NOTHROW(check_invariants(step.after, named.matrix));
            CHECK(step.after.matrix == named.matrix);
        }
    }
}

}  // namespace workbench
