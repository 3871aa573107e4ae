// The stage split by row length, diagonals, blocks, columns and distance, and repeated splits.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/matrix/battery.hpp"
#include "stages/order.hpp"
#include "stages/stages.hpp"
#include "stages/steps.hpp"

namespace workbench {
namespace {

using Notes = std::vector<std::pair<std::string, std::string>>;

Step split(const CsrMatrix& matrix, const Given& given) { return run(split_stage(), given, stage_input(matrix)); }

/// 5 x 5; nonzeros 0 1 2 | 3 | 4 | 5 | 6 7.
CsrMatrix five_rows() { return matrix_of(5, {{0, 1, 4}, {0}, {3}, {2}, {0, 4}}); }

std::string refusal(const Given& given, const std::string& parameter) {
    try {
        (void)contract_of(split_stage(), given);
    } catch (const ParameterError& error) {
        CHECK(error.parameter == parameter);
        return error.what();
    }
    return "none";
}

}  // namespace

TEST_CASE("split by row_length: rows with more nonzeros are long") {
    const Step step = split(six_rows(), {{"by", "row_length"}, {"longer_than", std::int64_t{2}}});
    CHECK(step.after.shares == std::vector{Share{{ShareKind::long_rows}, {1, 4}, {0, 3, 7}, {1, 2, 3, 6, 7, 8, 9}},
                                           Share{{ShareKind::short_rows}, {0, 3, 5}, {0, 1, 3, 4}, {0, 4, 5, 10}}});
    CHECK(step.result.notes == Notes{{"long", "7 nonzeros in 2 rows"}, {"short", "4 nonzeros in 3 rows"}});
    CHECK(split(six_rows(), {{"by", "row_length"}, {"longer_than", std::int64_t{3}}}).after.shares[0].rows == Indices{4});
    CHECK(split(six_rows(), {{"by", "row_length"}, {"longer_than", std::int64_t{4}}}).after.shares[0].rows.empty());
    CHECK(split(six_rows(), {{"by", "row_length"}, {"longer_than", std::int64_t{0}}}).after.shares[1].rows.empty());
}

TEST_CASE("split by diagonals: the fill counts places within the matrix") {
    // Diagonals 0, 1, 2 and -2 have 4, 4, 3 and 2 places in 4 x 5, and hold 4, 2, 1 and 1.
    const CsrMatrix matrix = matrix_of(5, {{0, 1}, {1, 3}, {0, 2}, {3, 4}});
    const Step half = split(matrix, {{"by", "diagonals"}, {"fill", 0.5}});
    CHECK(half.after.shares[1] == Share{{ShareKind::sparse_diagonals}, {1}, {0, 1}, {3}});
    CHECK(half.note("dense diagonals") == "3 of 4");
    const Step more = split(matrix, {{"by", "diagonals"}, {"fill", 0.51}});
    CHECK(more.after.shares == std::vector{Share{{ShareKind::dense_diagonals}, {0, 1, 2, 3}, {0, 1, 2, 3, 4}, {0, 2, 5, 6}},
                                           Share{{ShareKind::sparse_diagonals}, {0, 1, 2, 3}, {0, 1, 2, 3, 4}, {1, 3, 4, 7}}});
    CHECK(more.note("dense diagonals") == "1 of 4");
    CHECK(split(matrix, {{"by", "diagonals"}}).after.shares == more.after.shares);  // 0.7
    CHECK(split(matrix, {{"by", "diagonals"}, {"fill", 1.0}}).after.shares == more.after.shares);
    CHECK(split(matrix, {{"by", "diagonals"}, {"fill", 0.0}}).after.shares[1].entries.empty());
}

TEST_CASE("split by blocks: a block at the boundary has fewer places") {
    // Blocks of 2 x 2: 3 of 4 places at (0, 0), 1 of 2 at (0, 2), 2 of 4 at (1, 1), 1 of 2 at (2, 0), 1 of 1 at (2, 2).
    const Step step = split(five_rows(), {{"by", "blocks"}, {"size", std::int64_t{2}}});
    CHECK(step.after.shares == std::vector{Share{{ShareKind::dense_blocks}, {0, 1, 4}, {0, 2, 3, 4}, {0, 1, 3, 7}},
                                           Share{{ShareKind::sparse_blocks}, {0, 2, 3, 4}, {0, 1, 2, 3, 4}, {2, 4, 5, 6}}});
    CHECK(step.note("dense blocks") == "2 of 5");
    CHECK(split(five_rows(), {{"by", "blocks"}, {"size", std::int64_t{2}}, {"fill", 0.5}}).note("dense blocks") == "5 of 5");
    CHECK(split(five_rows(), {{"by", "blocks"}, {"size", std::int64_t{2}}, {"fill", 0.75}}).note("dense blocks") == "2 of 5");
    CHECK(split(five_rows(), {{"by", "blocks"}, {"size", std::int64_t{2}}, {"fill", 0.76}}).note("dense blocks") == "1 of 5");
    // One block of 25 places with 8.
    CHECK(split(five_rows(), {{"by", "blocks"}, {"size", std::int64_t{7}}, {"fill", 0.32}}).note("dense blocks") == "1 of 1");
    CHECK(split(five_rows(), {{"by", "blocks"}, {"size", std::int64_t{7}}, {"fill", 0.33}}).note("dense blocks") == "0 of 1");
}

TEST_CASE("split by columns and diagonals: per-thread histograms are complete") {
    // Columns with 101 and 100 nonzeros alternately, in 200 rows; and a dense matrix.
    std::vector<Indices> rows(200);
    for (Index row = 99; row < 200; ++row) {
        for (Index column = 0; column < 40; ++column) {
            if (row > 99 || column % 2 == 0) rows[row].push_back(column);
        }
    }
    const Step columns = split(matrix_of(40, rows), {{"by", "columns"}, {"density", 0.5}});
    CHECK(columns.note("dense columns") == "20 of 40");
    CHECK(columns.after.shares[0].entries.size() == 20 * 101);
    const Step diagonals = split(matrix_of(64, std::vector(64, all_of(64))), {{"by", "diagonals"}, {"fill", 1.0}});
    CHECK(diagonals.note("dense diagonals") == "127 of 127");
    CHECK(diagonals.after.shares[1].entries.empty());
}

TEST_CASE("split by columns: nonzeros in more than a fraction of the rows") {
    // The columns have 3, 1, 1, 1 and 2 nonzeros.
    const Step step = split(five_rows(), {{"by", "columns"}, {"density", 0.4}});
    CHECK(step.after.shares == std::vector{Share{{ShareKind::dense_columns}, {0, 1, 4}, {0, 1, 2, 3}, {0, 3, 6}},
                                           Share{{ShareKind::sparse_columns}, {0, 2, 3, 4}, {0, 2, 3, 4, 5}, {1, 2, 4, 5, 7}}});
    CHECK(step.note("dense columns") == "1 of 5");
    CHECK(split(five_rows(), {{"by", "columns"}, {"density", 0.39}}).note("dense columns") == "2 of 5");
}

TEST_CASE("split by distance: the maximum difference of row and column") {
    const Step step = split(five_rows(), {{"by", "distance"}, {"distance", std::int64_t{1}}});
    CHECK(step.after.shares == std::vector{Share{{ShareKind::near}, {0, 1, 2, 3, 4}, {0, 2, 3, 4, 5, 6}, {0, 1, 3, 4, 5, 7}},
                                           Share{{ShareKind::far}, {0, 4}, {0, 1, 2}, {2, 6}}});
    CHECK(split(five_rows(), {{"by", "distance"}, {"distance", std::int64_t{0}}}).after.shares[0].entries == Offsets{0, 7});
    CHECK(split(five_rows(), {{"by", "distance"}, {"distance", std::int64_t{4}}}).after.shares[1].entries.empty());
}

TEST_CASE("a share that is split again is replaced in its place, keeps its storage, and counts only its nonzeros") {
    StagedMatrix staged = stage_input(six_rows());
    (void)pass(staged, split_stage(), {{"by", "row_length"}, {"longer_than", std::int64_t{2}}});
    (void)pass(staged, row_sort_stage(), {{"share", "short"}});
    const StageResult result = pass(staged, split_stage(), {{"by", "first_k"}, {"k", std::int64_t{1}}, {"share", "short"}});
    const ShareId first = share_within({ShareKind::short_rows}, ShareKind::first).value();
    const ShareId rest = share_within({ShareKind::short_rows}, ShareKind::rest).value();
    REQUIRE(staged.shares.size() == 3);
    CHECK(staged.shares[0].id == ShareId{ShareKind::long_rows});
    CHECK(staged.shares[1] == Share{first, {3, 0, 5}, {0, 1, 2, 3}, {4, 0, 10}});
    CHECK(staged.shares[2] == Share{rest, {3}, {0, 1}, {5}});
    CHECK(result.notes == Notes{{"k", "1"}, {"short/first", "3 nonzeros in 3 rows"}, {"short/rest", "1 nonzero in 1 row"}});
    check_invariants(staged, six_rows());

    // In share 'far' the block at (0, 0) is empty, and the others have 1 of 2 places.
    StagedMatrix blocks = stage_input(five_rows());
    (void)pass(blocks, split_stage(), {{"by", "distance"}, {"distance", std::int64_t{1}}});
    const StageResult of_far =
        pass(blocks, split_stage(), {{"by", "blocks"}, {"size", std::int64_t{2}}, {"fill", 0.5}, {"share", "far"}});
    CHECK(of_far.notes == Notes{{"dense blocks", "2 of 2"},
                                {"far/dense_blocks", "2 nonzeros in 2 rows"},
                                {"far/sparse_blocks", "0 nonzeros in 0 rows"}});
}

TEST_CASE("split by every criterion, twice: battery") {
    const std::vector<Given> ways = {{{"by", "row_length"}, {"longer_than", std::int64_t{3}}},
                                     {{"by", "first_k"}, {"k", "mean"}},
                                     {{"by", "diagonals"}, {"fill", 0.5}},
                                     {{"by", "blocks"}, {"size", std::int64_t{3}}, {"fill", 0.4}},
                                     {{"by", "columns"}, {"density", 0.25}},
                                     {{"by", "distance"}, {"distance", std::int64_t{2}}},
                                     {{"by", "row_length"}, {"longer_than", "2*mean"}},
                                     {{"by", "value"}, {"value", "commonest"}}};
    for (const NamedMatrix& named : battery()) {
        CAPTURE(named.name);
        for (const Given& way : ways) {
            for (Given again : ways) {
                StagedMatrix staged = stage_input(named.matrix);
                (void)pass(staged, split_stage(), way);
                check_invariants(staged, named.matrix);
                again["share"] = name_of(staged.shares.back().id);
                (void)pass(staged, split_stage(), again);
                CHECK(staged.shares.size() == 3);
                check_invariants(staged, named.matrix);
            }
        }
    }
}

TEST_CASE("split: parameters of each criterion") {
    CHECK(refusal({{"by", "row_length"}}, "longer_than") == "by = \"row_length\" needs longer_than or bounds");
    CHECK(refusal({{"by", "blocks"}}, "size") == "by = \"blocks\" needs size or height");
    CHECK(refusal({{"by", "columns"}}, "density") == "by = \"columns\" needs density or bounds");
    CHECK(refusal({{"by", "distance"}}, "distance") == "by = \"distance\" needs distance");
    CHECK(refusal({{"by", "first_k"}, {"fill", 0.5}}, "fill") ==
          "fill is for by = \"diagonals\" or \"blocks\", but by is \"first_k\"");
    const auto parameters = split_stage().parameters;
    const auto share = std::find_if(parameters.begin(), parameters.end(), [](const auto& one) { return one.name == "share"; });
    CHECK(accepted_values(*share).find("tile") == std::string::npos);
    CHECK(accepted_values(*share).find("segment") == std::string::npos);
    for (const char* no_single_share : {"tile", "tile 0,1", "segment", "segment 3"}) {
        CHECK(reason_to_refuse(*share, std::string(no_single_share)).find("expected " + accepted_values(*share)) !=
              std::string::npos);
    }
    for (const char* single : {"inside", "far", "short/first"}) CHECK(reason_to_refuse(*share, std::string(single)).empty());
    const std::string deepest = "first/rest/first/rest/first/rest/first/rest";
    CHECK(refusal({{"by", "first_k"}, {"share", deepest}}, "share") ==
          "share '" + deepest + "' was split 7 times already, which is the limit");

    const StageContract again = contract_of(split_stage(), {{"by", "inside_partition"}, {"share", "short/first"}});
    const ShareId parent = single_share("short/first").value();
    CHECK(again.splits == parent);
    CHECK_FALSE(again.needs.unsplit);
    CHECK(again.needs.shares == std::vector{ShareChoice{ShareKind::first, parent}});
    CHECK(again.needs.cuts == std::vector{CutKind::partition});
    CHECK_FALSE(contract_of(split_stage(), {{"by", "first_k"}}).splits.has_value());
}

}  // namespace workbench
