// The stage random_order.
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "stages/stages.hpp"
#include "stages/steps.hpp"

namespace workbench {

TEST_SUITE("random_order") {
    TEST_CASE("the order is the same on every machine") {
        // Computed independently from the published SplitMix64.
        const auto order = [](std::int64_t seed) {
            return run(random_order_stage(), {{"seed", seed}}, stage_input(diagonal(8))).order();
        };
        CHECK(order(1) == Indices{4, 3, 2, 7, 5, 6, 0, 1});
        CHECK(order(2) == Indices{5, 2, 7, 4, 1, 3, 0, 6});
    }

    TEST_CASE("rows, columns, nodes") {
        const StagedMatrix wide = stage_input(matrix_of(8, {{0, 7}, {1}, {2}, {3}}));
        const Step columns = run(random_order_stage(), {{"apply", "columns"}}, wide);
        CHECK(columns.order() == Indices{4, 3, 2, 7, 5, 6, 0, 1});
        CHECK(columns.after.matrix ==
              csr_from_entries(4, 8, std::vector<Entry>{{0, 6, 1}, {0, 3, 8}, {1, 7, 12}, {2, 2, 23}, {3, 1, 34}}));
        const Step rows = run(random_order_stage(), {{"apply", "rows"}}, wide);
        CHECK(rows.order() == Indices{2, 0, 3, 1});
        CHECK(rows.after.matrix ==
              csr_from_entries(4, 8, std::vector<Entry>{{0, 2, 23}, {1, 0, 1}, {1, 7, 8}, {2, 3, 34}, {3, 1, 12}}));
        CHECK(run(random_order_stage(), {}, stage_input(diagonal(8), 2)).order() == Indices{4, 5, 0, 1, 6, 7, 2, 3});
        CHECK_FALSE(rows.contract.needs.square);
        CHECK(run(random_order_stage(), {}, stage_input(diagonal(8))).contract.needs.square);
    }
}

}  // namespace workbench
