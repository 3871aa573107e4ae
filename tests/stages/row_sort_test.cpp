// The stage row_sort on the matrix and on a share; tiles_test.cpp tests it within tiles.
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "stages/order.hpp"
#include "stages/stages.hpp"
#include "stages/steps.hpp"

namespace workbench {
namespace {

Indices order_of(const Given& given, const StagedMatrix& before) { return run(row_sort_stage(), given, before).order(); }

}  // namespace

TEST_SUITE("row_sort") {
    TEST_CASE("descending and ascending; ties keep their order") {
        const StagedMatrix before = stage_input(six_rows());
        CHECK(order_of({}, before) == Indices{4, 1, 3, 0, 5, 2});
        CHECK(order_of({{"order", "ascending"}}, before) == Indices{2, 0, 5, 3, 1, 4});
    }

    TEST_CASE("apply = symmetric also permutes the columns") {
        const StagedMatrix before = stage_input(six_rows());
        const CsrMatrix symmetric = run(row_sort_stage(), {}, before).after.matrix;
        CHECK(symmetric == csr_from_entries(6, 6,
                                            std::vector<Entry>{{0, 3, 41},
                                                               {0, 1, 42},
                                                               {0, 0, 45},
                                                               {0, 4, 46},
                                                               {1, 3, 11},
                                                               {1, 1, 12},
                                                               {1, 4, 16},
                                                               {2, 5, 33},
                                                               {2, 2, 34},
                                                               {3, 3, 1},
                                                               {4, 2, 54}}));
        const CsrMatrix rows = run(row_sort_stage(), {{"apply", "rows"}}, before).after.matrix;
        CHECK(rows == csr_from_entries(6, 6,
                                       std::vector<Entry>{{0, 0, 41},
                                                          {0, 1, 42},
                                                          {0, 4, 45},
                                                          {0, 5, 46},
                                                          {1, 0, 11},
                                                          {1, 1, 12},
                                                          {1, 5, 16},
                                                          {2, 2, 33},
                                                          {2, 3, 34},
                                                          {3, 0, 1},
                                                          {4, 3, 54}}));
    }

    TEST_CASE("within windows") {
        const StagedMatrix before = stage_input(six_rows());
        const auto window = [&](std::int64_t rows) { return order_of({{"within", "window"}, {"window", rows}}, before); };
        CHECK(window(1) == Indices{0, 1, 2, 3, 4, 5});
        CHECK(window(2) == Indices{1, 0, 3, 2, 4, 5});
        CHECK(window(4) == Indices{1, 3, 0, 2, 4, 5});
        CHECK(window(5'000'000'000) == Indices{4, 1, 3, 0, 5, 2});
    }

    TEST_CASE("within partitions, which are kept; and by nonzeros inside them") {
        const StagedMatrix before = six_rows_cut_at({0, 3, 3, 6});
        const Step step = run(row_sort_stage(), {{"within", "partition"}}, before);
        CHECK(step.order() == Indices{1, 0, 2, 4, 3, 5});
        CHECK(step.after.cuts == before.cuts);
        CHECK(order_of({{"key", "nonzeros_inside_partition"}}, before) == Indices{1, 4, 0, 3, 5, 2});
        CHECK(order_of({{"within", "partition"}, {"key", "nonzeros_inside_partition"}, {"order", "ascending"}}, before) ==
              Indices{2, 0, 1, 3, 5, 4});
        CHECK(run(row_sort_stage(), {}, before).after.cuts.empty());
    }

    TEST_CASE("windows within partitions: each partition starts a new window") {
        // Lengths 1 2 3 | 4 5 | 6 7 8 9 10 11, longest first.
        const StagedMatrix uncut = stage_input(matrix_of(12, {{0},
                                                              all_of(2),
                                                              all_of(3),
                                                              all_of(4),
                                                              all_of(5),
                                                              all_of(6),
                                                              all_of(7),
                                                              all_of(8),
                                                              all_of(9),
                                                              all_of(10),
                                                              all_of(11),
                                                              {}}));
        StagedMatrix before = uncut;
        before.cuts = {{CutKind::partition, {0, 3, 5, 5, 12}}};
        const auto window = [&](std::int64_t rows) { return order_of({{"within", "partition"}, {"window", rows}}, before); };
        CHECK(window(1) == all_of(12));
        CHECK(window(2) == Indices{1, 0, 2, 4, 3, 6, 5, 8, 7, 10, 9, 11});
        CHECK(window(3) == Indices{2, 1, 0, 4, 3, 7, 6, 5, 10, 9, 8, 11});
        CHECK(window(std::numeric_limits<std::int64_t>::max()) == Indices{2, 1, 0, 4, 3, 10, 9, 8, 7, 6, 5, 11});
        const Step step =
            run(row_sort_stage(), {{"within", "partition"}, {"window", std::int64_t{2}}, {"apply", "rows"}}, before);
        CHECK(step.after.cuts == before.cuts);
        CHECK(step.after.column_order.is_identity());

        // A node belongs to the window of its first row.
        StagedMatrix nodes = uncut;
        nodes.node_size = 2;
        nodes.cuts = {{CutKind::partition, {0, 4, 12}}};
        const Given three{{"within", "partition"}, {"window", std::int64_t{3}}};
        CHECK(order_of(three, nodes) == Indices{2, 3, 0, 1, 6, 7, 4, 5, 8, 9, 10, 11});
    }

    TEST_CASE("nodes are sorted by their longest row") {
        const StagedMatrix before = stage_input(six_rows(), 2);
        CHECK(order_of({}, before) == Indices{4, 5, 0, 1, 2, 3});
        CHECK(order_of({{"order", "ascending"}}, before) == Indices{2, 3, 0, 1, 4, 5});
        CHECK(order_of({{"within", "window"}, {"window", std::int64_t{3}}, {"order", "ascending"}}, before) ==
              Indices{2, 3, 0, 1, 4, 5});
        CHECK(order_of({{"within", "window"}, {"window", std::int64_t{2}}}, before) == Indices{0, 1, 2, 3, 4, 5});
    }

    TEST_CASE("the storage of a share") {
        const StagedMatrix split = run(split_stage(), {{"by", "inside_partition"}}, six_rows_cut_at({0, 3, 6})).after;
        const Step step = run(row_sort_stage(), {{"share", "outside"}}, split);
        CHECK_FALSE(step.contract.acts);  // the matrix is not reordered
        CHECK(step.order() == Indices{2, 0, 1});
        CHECK(step.after.matrix == split.matrix);
        CHECK(step.after.find_share({ShareKind::outside})->rows == Indices{4, 1, 3});
        CHECK(step.after.find_share({ShareKind::outside})->entries == Offsets{6, 7, 3, 4});
        CHECK(*step.after.find_share({ShareKind::inside}) == *split.find_share({ShareKind::inside}));
        CHECK(order_of({{"share", "outside"}, {"within", "partition"}}, split) == Indices{0, 2, 1});
        CHECK(order_of({{"share", "inside"}, {"key", "nonzeros_inside_partition"}}, split) == Indices{1, 3, 0, 2, 4});
        CHECK(order_of({{"share", "outside"}, {"key", "nonzeros_inside_partition"}}, split) == Indices{0, 1, 2});
    }

    TEST_CASE("errors name the contradicting parameter") {
        const auto culprit = [](const Given& given) -> std::string {
            try {
                (void)contract_of(row_sort_stage(), given);
            } catch (const ParameterError& error) {
                return error.parameter;
            }
            return "(none)";
        };
        CHECK(culprit({{"window", std::int64_t{32}}}) == "window");
        CHECK(culprit({{"within", "window"}}) == "window");
        CHECK(culprit({{"share", "outside"}, {"apply", "rows"}}) == "apply");
        CHECK(culprit({{"within", "window"}, {"window", std::int64_t{32}}, {"apply", "rows"}}) == "(none)");
    }

    TEST_CASE("parameters that had another name before") {
        const auto former_name = [](const StageEntry& stage, const std::string& name) {
            const auto found = std::ranges::find(stage.parameters, name, &ParameterDeclaration::name);
            REQUIRE(found != stage.parameters.end());
            return found->formerly;
        };
        CHECK(former_name(row_sort_stage(), "share") == "part");
        CHECK(former_name(column_segmentation_stage(), "cache_share") == "share");
        CHECK(former_name(row_sort_stage(), "order").empty());
    }

    TEST_CASE("contract") {
        const auto contract = [](const Given& given) { return contract_of(row_sort_stage(), given); };
        CHECK(contract({}).needs.square);
        CHECK(contract({}).acts == Acts::symmetric);
        CHECK(contract({}).needs.cuts.empty());
        CHECK(contract({}).keeps.empty());
        CHECK_FALSE(contract({{"apply", "rows"}}).needs.square);
        CHECK(contract({{"apply", "rows"}}).acts == Acts::rows);
        CHECK(contract({{"key", "nonzeros_inside_partition"}}).needs.cuts == std::vector{CutKind::partition});
        CHECK(contract({{"key", "nonzeros_inside_partition"}}).keeps.empty());
        CHECK(contract({{"within", "partition"}}).keeps == std::vector{CutKind::partition});
        CHECK(contract({{"share", "outside"}}).needs.shares == std::vector<ShareChoice>{{ShareKind::outside}});
        CHECK_FALSE(contract({{"share", "outside"}}).needs.square);
    }
}

}  // namespace workbench
