// Orders of the storage of a share, row_sort by columns, and row blocks within partitions.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/matrix/battery.hpp"
#include "core/matrix/random.hpp"
#include "stages/order.hpp"
#include "stages/stages.hpp"
#include "stages/steps.hpp"

namespace workbench {
namespace {

Indices sorted_by(const std::string& key, const StagedMatrix& before, const std::string& order = "ascending") {
    return run(row_sort_stage(), {{"key", key}, {"order", order}, {"apply", "rows"}}, before).order();
}

/// All nonzeros in share 'near', and none in 'far'.
StagedMatrix all_near(const CsrMatrix& matrix) {
    return run(split_stage(), {{"by", "distance"}, {"distance", std::int64_t{1'000'000}}}, stage_input(matrix)).after;
}

/// Pairs of rows with 6 of 8 columns in common each, in random order.
CsrMatrix similar_pairs(Index pairs) {
    RandomStream random = random_stream(3, 1);
    std::vector<Indices> rows;
    for (Index pair = 0; pair < pairs; ++pair) {
        const auto first = static_cast<Index>(random.below(900));
        rows.push_back({first, first + 10, first + 20, first + 30, first + 40, first + 50, first + 60});
        rows.push_back({first, first + 10, first + 20, first + 30, first + 40, first + 50, first + 70});
    }
    const Permutation order = random_permutation(2 * pairs, 5);
    std::vector<Indices> shuffled;
    for (const Index row : order.old_of_new()) shuffled.push_back(rows[row]);
    return matrix_of(1000, shuffled);
}

}  // namespace

TEST_SUITE("storage orders") {
    TEST_CASE("row_sort by the first column and by the span") {
        const StagedMatrix before = stage_input(six_rows());  // columns 0 | 0 1 5 | | 2 3 | 0 1 4 5 | 3
        CHECK(sorted_by("first_column", before) == Indices{0, 1, 4, 3, 5, 2});
        CHECK(sorted_by("first_column", before, "descending") == Indices{2, 5, 3, 0, 1, 4});
        CHECK(sorted_by("span", before) == Indices{2, 0, 5, 3, 1, 4});
        CHECK(sorted_by("span", before, "descending") == Indices{1, 4, 3, 0, 5, 2});
        const StagedMatrix nodes = stage_input(six_rows(), 2);
        CHECK(sorted_by("first_column", nodes) == Indices{0, 1, 4, 5, 2, 3});
        CHECK(sorted_by("span", nodes) == Indices{2, 3, 0, 1, 4, 5});
    }

    TEST_CASE("row_sort by similarity makes rows with the same columns neighbours, and similar ones often") {
        const Indices same =
            sorted_by("similarity", stage_input(matrix_of(9, {{0, 4}, {5}, {0, 4}, {}, {5}, {0, 4}, {}, {8}})));
        const auto place = [&](Index row) { return std::find(same.begin(), same.end(), row) - same.begin(); };
        CHECK(place(2) == place(0) + 1);
        CHECK(place(5) == place(0) + 2);
        CHECK(place(4) == place(1) + 1);
        CHECK(Indices(same.end() - 2, same.end()) == Indices{3, 6});  // empty rows are last

        constexpr Index pairs = 200;
        const StagedMatrix staged = stage_input(similar_pairs(pairs));
        const Indices order = run(row_sort_stage(), {{"key", "similarity"}, {"apply", "rows"}}, staged).order();
        Index neighbours = 0;
        for (std::size_t i = 1; i < order.size(); ++i) {
            const auto a = staged.matrix.row_columns(order[i - 1]);
            const auto b = staged.matrix.row_columns(order[i]);
            neighbours += std::equal(a.begin(), a.end() - 1, b.begin()) ? 1 : 0;
        }
        CHECK(neighbours > pairs * 2 / 3);  // the Jaccard similarity is 6 / 8
    }

    TEST_CASE("a row without nonzeros follows all others, also on a wide matrix") {
        CHECK(sorted_by("first_column", stage_input(matrix_of(10, {{}, {9}, {1}}))) == Indices{2, 1, 0});
    }

    TEST_CASE("keys of columns sort the storage of shares, segments and tiles") {
        StagedMatrix staged = stage_input(six_rows());
        (void)pass(staged, split_stage(), {{"by", "row_length"}, {"longer_than", std::int64_t{1}}});
        const Step step = run(row_sort_stage(), {{"key", "first_column"}, {"share", "long"}}, staged);
        CHECK(step.after.find_share({ShareKind::long_rows})->rows == Indices{3, 1, 4});
        CHECK(step.after.matrix == staged.matrix);

        StagedMatrix segments = stage_input(six_rows());
        (void)pass(segments, column_segmentation_stage(), {{"width", std::int64_t{4}}});
        (void)pass(segments, row_sort_stage(), {{"within", "segment"}, {"key", "first_column"}});
        CHECK(segments.shares.at(0).rows == Indices{5, 3, 0, 1, 4});
        CHECK(segments.shares.at(1).rows == Indices{1, 4});
        check_invariants(segments, six_rows());
    }

    TEST_CASE("an order of a share that has all nonzeros is that of the matrix") {
        const std::vector<StageEntry> stages = {approximate_minimum_degree_stage(),
                                                cuthill_mckee_stage(),
                                                degree_sort_stage(),
                                                gorder_stage(),
                                                gray_stage(),
                                                king_stage(),
                                                louvain_stage(),
                                                nested_dissection_stage(),
                                                rabbit_order_stage(),
                                                sloan_stage()};
        for (const NamedMatrix& named : battery()) {
            const StagedMatrix split = all_near(named.matrix);
            for (const StageEntry& stage : stages) {
                if (!named.matrix.square() && stage.name != "gray") continue;
                CAPTURE(named.name);
                CAPTURE(stage.name);
                const Step step = run(stage, {{"share", "near"}}, split);
                CHECK_FALSE(step.contract.acts);
                CHECK(step.after.matrix == named.matrix);
                check_invariants(step.after, named.matrix);
                Indices expected = run(stage, {}, stage_input(named.matrix)).order();
                std::erase_if(expected, [&](Index row) { return named.matrix.row_length(row) == 0; });
                const HostArray<Index>& rows = step.after.find_share({ShareKind::near})->rows;
                CHECK(Indices(rows.begin(), rows.end()) == expected);
            }
        }
    }

    TEST_CASE("an order of a share counts only its nonzeros") {
        // Share 'near' is a path 0 - 2 - 1 - 3 of the graph; 'far' couples all rows with the last column.
        const CsrMatrix matrix = matrix_of(9, {{2, 8}, {2, 3, 8}, {0, 1, 8}, {1, 8}, {8}, {8}, {}, {}, {}});
        StagedMatrix staged = stage_input(matrix);
        (void)pass(staged, split_stage(), {{"by", "columns"}, {"bounds", "8"}});
        const Step step = run(cuthill_mckee_stage(), {{"share", "bin_0"}, {"variant", "plain"}}, staged);
        const HostArray<Index>& rows = step.after.find_share({ShareKind::bin_0})->rows;
        const Indices order(rows.begin(), rows.end());
        CHECK((order == Indices{0, 2, 1, 3} || order == Indices{3, 1, 2, 0}));
        CHECK(step.contract.needs.square);
        try {
            (void)contract_of(gray_stage(), {{"share", "bin_0"}, {"apply", "symmetric"}});
            FAIL("apply was accepted");
        } catch (const ParameterError& error) {
            CHECK(error.parameter == "apply");
        }
    }

    TEST_CASE("gray: dense rows relative to the row lengths") {
        const Step step = run(gray_stage(), {{"dense_row", "2*mean"}}, stage_input(six_rows()));
        CHECK(step.note("dense rows") == "1");  // 4 nonzeros or more
        CHECK(run(gray_stage(), {{"dense_row", "p50"}}, stage_input(six_rows())).note("dense rows") == "5");
    }

    TEST_CASE("row blocks begin anew in each partition") {
        const StagedMatrix staged = six_rows_cut_at({0, 3, 3, 6});
        const auto boundaries = [&](const Given& given) {
            return run(row_blocks_stage(), given, staged).after.find_cuts(CutKind::row_block)->boundaries;
        };
        CHECK(boundaries({{"within", "partition"}, {"height", std::int64_t{2}}}) == Indices{0, 2, 3, 5, 6});
        CHECK(boundaries({{"within", "partition"}, {"count", std::int64_t{2}}}) == Indices{0, 1, 3, 4, 6});
        CHECK(boundaries({{"within", "partition"}, {"height", std::int64_t{7}}}) == Indices{0, 3, 6});
        CHECK(contract_of(row_blocks_stage(), {{"within", "partition"}, {"height", std::int64_t{2}}}).needs.cuts ==
              std::vector{CutKind::partition});
    }
}

}  // namespace workbench
