// The stage split into bins, chosen partitions, values and rectangular blocks, with relative row lengths; the stage unite.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/matrix/battery.hpp"
#include "stages/stages.hpp"
#include "stages/steps.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

using Shares = std::vector<Share>;

Step split_six(const Given& given) { return run(split_stage(), given, stage_input(six_rows())); }

/// 5 x 5; nonzeros 0 1 2 | 3 | 4 | 5 | 6 7.
CsrMatrix rows_to_cut() { return matrix_of(5, {{0, 1, 4}, {0}, {3}, {2}, {0, 4}}); }

std::string culprit_of(const StageEntry& stage, const Given& given) {
    try {
        (void)contract_of(stage, given);
    } catch (const ParameterError& error) {
        return error.parameter + ": " + error.what();
    }
    return "none";
}

std::vector<Indices> rows_of_shares(const StagedMatrix& staged) {
    std::vector<Indices> rows;
    for (const Share& share : staged.shares) rows.emplace_back(share.rows.begin(), share.rows.end());
    return rows;
}

}  // namespace

TEST_SUITE("split into bins") {
    TEST_CASE("bins of row lengths contain rows of at most their bound") {
        const Step step = split_six({{"by", "row_length"}, {"bounds", "1, 2"}});
        CHECK(step.after.shares == Shares{{{ShareKind::bin_0}, {0, 5}, {0, 1, 2}, {0, 10}},
                                          {{ShareKind::bin_1}, {3}, {0, 2}, {4, 5}},
                                          {{ShareKind::bin_2}, {1, 4}, {0, 3, 7}, {1, 2, 3, 6, 7, 8, 9}}});
        CHECK(step.note("bounds") == "1, 2");
        CHECK(step.note("bin_2") == "7 nonzeros in 2 rows");
        REQUIRE(step.contract.gives_shares.size() == 3);
        CHECK(step.contract.gives_shares[2].kind == ShareKind::bin_2);
    }

    TEST_CASE("bounds of row lengths may be relative, and equal") {
        // The mean is 11 / 6; the lengths in order are 0, 1, 1, 2, 3, 4.
        const Step step = split_six({{"by", "row_length"}, {"bounds", "p50,1,2*mean,p99"}});
        CHECK(step.note("bounds") == "1, 1, 3, 4");
        CHECK(rows_of_shares(step.after) == std::vector<Indices>{{0, 5}, {}, {1, 3}, {4}, {}});
        CHECK_THROWS_WITH_AS((void)split_six({{"by", "row_length"}, {"bounds", "3, p50"}}),
                             "split: the bounds 3, p50 are 3, 1 in this matrix, which do not ascend", Unsuitable);
    }

    TEST_CASE("bins of rows and columns end before their bounds") {
        const StagedMatrix staged = stage_input(rows_to_cut());
        CHECK(run(split_stage(), {{"by", "rows"}, {"bounds", "2"}}, staged).after.shares ==
              Shares{{{ShareKind::bin_0}, {0, 1}, {0, 3, 4}, {0, 1, 2, 3}},
                     {{ShareKind::bin_1}, {2, 3, 4}, {0, 1, 2, 4}, {4, 5, 6, 7}}});
        CHECK(rows_of_shares(run(split_stage(), {{"by", "rows"}, {"bounds", "p50, 4, 90"}}, staged).after) ==
              std::vector<Indices>{{0, 1, 2}, {3}, {4}, {}});
        CHECK(run(split_stage(), {{"by", "columns"}, {"bounds", "1, 3"}}, staged).after.shares ==
              Shares{{{ShareKind::bin_0}, {0, 1, 4}, {0, 1, 2, 3}, {0, 3, 6}},
                     {{ShareKind::bin_1}, {0, 3}, {0, 1, 2}, {1, 5}},
                     {{ShareKind::bin_2}, {0, 2, 4}, {0, 1, 2, 3}, {2, 4, 7}}});
    }

    TEST_CASE("bins of rows, split by columns, are tiles") {
        StagedMatrix staged = stage_input(rows_to_cut());
        (void)pass(staged, split_stage(), {{"by", "rows"}, {"bounds", "2"}});
        (void)pass(staged, split_stage(), {{"by", "columns"}, {"bounds", "1"}, {"share", "bin_0"}});
        REQUIRE(staged.shares.size() == 3);
        CHECK(name_of(staged.shares[0].id) == "bin_0/bin_0");
        CHECK(staged.shares[0].entries == Offsets{0, 3});
        CHECK(staged.shares[1].entries == Offsets{1, 2});
        check_invariants(staged, rows_to_cut());
    }

    TEST_CASE("thresholds relative to the row lengths") {
        const auto longer = [](const ParameterValue& threshold) {
            return split_six({{"by", "row_length"}, {"longer_than", threshold}});
        };
        CHECK(longer("2*mean").after.shares[0].rows == Indices{4});  // longer than 3
        CHECK(longer("2*mean").note("longer_than") == "3");
        CHECK(longer("p50").after.shares[0].rows == Indices{1, 3, 4});  // longer than 1
        CHECK(longer("p0").note("longer_than") == "0");
        CHECK(longer("p100").after.shares[0].rows == Indices{});
        CHECK(longer("0.5*p100").after.shares == longer(std::int64_t{2}).after.shares);
        CHECK(longer(std::int64_t{2}).note("longer_than") == "(no note)");
        const auto k = [](const std::string& text) { return split_six({{"by", "first_k"}, {"k", text}}).note("k"); };
        CHECK(k("mean") == "2");  // rounded up
        CHECK(k("0.1*mean") == "1");
        CHECK(k("p95") == "4");
        CHECK(k("1.1*p100") == "5");
    }

    TEST_CASE("chosen partitions") {
        const Step step = run(split_stage(), {{"by", "partition"}, {"partitions", "2,0"}}, six_rows_cut_at({0, 1, 4, 6}));
        CHECK(rows_of_shares(step.after) == std::vector<Indices>{{0, 4, 5}, {1, 3}});
        CHECK(step.after.shares[0].id == ShareId{ShareKind::chosen});
        CHECK(step.contract.needs.cuts == std::vector{CutKind::partition});
        CHECK_THROWS_WITH_AS(
            (void)run(split_stage(), {{"by", "partition"}, {"partitions", "1, 3"}}, six_rows_cut_at({0, 1, 4, 6})),
            "split: there is no partition 3 among 3 partitions, counted from 0", Unsuitable);
    }

    TEST_CASE("nonzeros by their values") {
        const CsrMatrix matrix =
            csr_from_entries(3, 3, std::vector<Entry>{{0, 0, 2}, {0, 1, -3}, {1, 0, 2}, {1, 1, 0.5}, {2, 2, -2}});
        const auto chosen = [&](const Given& given) {
            Given all = given;
            all["by"] = "value";
            const HostArray<Offset> entries = run(split_stage(), all, stage_input(matrix)).after.shares[0].entries;
            return Offsets(entries.begin(), entries.end());
        };
        CHECK(chosen({{"value", "commonest"}}) == Offsets{0, 2});
        CHECK(chosen({{"value", -2.0}}) == Offsets{4});
        CHECK(chosen({{"value", 7.0}}).empty());
        CHECK(chosen({{"larger_than", 2.0}}) == Offsets{1});
        CHECK(chosen({{"larger_than", 1.9}}) == Offsets{0, 1, 2, 4});
        const CsrMatrix ties =
            csr_from_entries(1, 5, std::vector<Entry>{{0, 0, 3}, {0, 1, 1}, {0, 2, 3}, {0, 3, 1}, {0, 4, 9}});
        CHECK(run(split_stage(), {{"by", "value"}, {"value", "commonest"}}, stage_input(ties)).note("commonest value") ==
              "1.0");
    }

    TEST_CASE("rectangular blocks") {
        // Blocks of 2 x 3: 3 of 6 places, 1 of 4, 1 of 6, 1 of 4; in the last row 1 of 3 and 1 of 2.
        const Given given{{"by", "blocks"}, {"height", std::int64_t{2}}, {"width", std::int64_t{3}}, {"fill", 0.5}};
        const Step step = run(split_stage(), given, stage_input(rows_to_cut()));
        CHECK(step.after.shares[0] == Share{{ShareKind::dense_blocks}, {0, 1, 4}, {0, 2, 3, 4}, {0, 1, 3, 7}});
        CHECK(step.note("dense blocks") == "2 of 6");
        const Given square{{"by", "blocks"}, {"height", std::int64_t{2}}, {"width", std::int64_t{2}}};
        CHECK(run(split_stage(), square, stage_input(rows_to_cut())).after.shares ==
              run(split_stage(), {{"by", "blocks"}, {"size", std::int64_t{2}}}, stage_input(rows_to_cut())).after.shares);
    }

    TEST_CASE("errors name the parameter") {
        const auto error = [](const Given& given) { return culprit_of(split_stage(), given); };
        CHECK(error({{"by", "rows"}}) == "bounds: by = \"rows\" needs bounds");
        CHECK(error({{"by", "rows"}, {"bounds", "3, 3"}}) == "bounds: the bounds do not ascend");
        CHECK(error({{"by", "row_length"}, {"bounds", "5, p50, 4"}}) == "bounds: the bounds do not ascend");
        CHECK(error({{"by", "columns"}, {"bounds", "mean"}}) ==
              "bounds: bounds of columns are numbers or percentages, such as \"p50\"");
        CHECK(error({{"by", "rows"}, {"bounds", "1,2,3,4,5,6,7,8"}}) == "bounds: found 8 bounds, expected at most 7");
        CHECK(error({{"by", "row_length"}, {"bounds", "4"}, {"longer_than", std::int64_t{4}}}) ==
              "bounds: found bounds beside longer_than, expected only one of them");
        CHECK(error({{"by", "blocks"}, {"height", std::int64_t{2}}}) == "width: height needs width, the columns of a block");
        CHECK(error({{"by", "blocks"}, {"size", std::int64_t{2}}, {"width", std::int64_t{2}}}) ==
              "height: width needs height, the rows of a block");
        CHECK(error({{"by", "value"}}) == "value: by = \"value\" needs value or larger_than");
        CHECK(error({{"by", "distance"}, {"distance", std::int64_t{1}}, {"bounds", "3"}}) ==
              "bounds: bounds is for by = \"row_length\" or \"columns\" or \"rows\", but by is \"distance\"");
        const auto refused = [](const std::string& name, const ParameterValue& value) {
            for (const ParameterDeclaration& declaration : split_stage().parameters) {
                if (declaration.name == name) return reason_to_refuse(declaration, value);
            }
            return std::string("unknown");
        };
        CHECK(refused("longer_than", "2*median") ==
              "found \"2*median\", expected an integer from 0 to 2147483647 (nonzeros), or a length relative to those of the "
              "rows, "
              "such as \"2*mean\" or \"p95\"");
        CHECK(
            refused("bounds", "4, mean, p101") ==
            "found \"4, mean, p101\", expected a list of integers from 0 to 2147483647, or of lengths relative to those of the "
            "rows, such as [4, \"2*mean\", \"p95\"]");
        CHECK(refused("partitions", "1, mean") ==
              "found \"1, mean\", expected a list of integers from 0 to 2147483647, such as [4, 16, 64]");
        CHECK(refused("k", "one_third").empty());
        CHECK(refused("k", std::int64_t{0}).starts_with("found 0, expected an integer from 1"));
    }

    TEST_CASE("battery: bins keep the invariants") {
        for (const NamedMatrix& named : battery()) {
            CAPTURE(named.name);
            for (const std::string by : {"row_length", "rows", "columns"}) {
                const Step step = run(split_stage(), {{"by", by}, {"bounds", "p10, p30, p50, p60, p70, p80, p90"}},
                                      stage_input(named.matrix));
                CHECK(step.after.shares.size() == 8);
                check_invariants(step.after, named.matrix);
            }
        }
    }
}

TEST_SUITE("unite") {
    StagedMatrix three_shares() {
        StagedMatrix staged = stage_input(six_rows());
        (void)pass(staged, split_stage(), {{"by", "row_length"}, {"longer_than", std::int64_t{2}}});
        (void)pass(staged, split_stage(), {{"by", "first_k"}, {"k", std::int64_t{1}}, {"share", "short"}});
        return staged;
    }

    TEST_CASE("the entries of a row ascend, and rows are in the order in which they are listed first") {
        StagedMatrix staged = three_shares();
        const StageResult result = pass(staged, unite_stage(), {{"shares", "long, short/rest"}});
        REQUIRE(staged.shares.size() == 2);
        CHECK(staged.shares[0] == Share{{ShareKind::united}, {1, 4, 3}, {0, 3, 7, 8}, {1, 2, 3, 6, 7, 8, 9, 5}});
        CHECK(name_of(staged.shares[1].id) == "short/first");
        CHECK(result.notes.at(0).second == "8 nonzeros in 3 rows");
        check_invariants(staged, six_rows());

        StagedMatrix parts = three_shares();
        (void)pass(parts, unite_stage(), {{"shares", "short/rest,short/first"}});
        CHECK(parts.shares[0] == Share{{ShareKind::united}, {3, 0, 5}, {0, 2, 3, 4}, {4, 5, 0, 10}});
        (void)pass(parts, split_stage(), {{"by", "rows"}, {"bounds", "1"}, {"share", "united"}});
        CHECK(name_of(parts.shares[0].id) == "united/bin_0");
        check_invariants(parts, six_rows());
    }

    TEST_CASE("contract and errors") {
        const StageContract contract = contract_of(unite_stage(), {{"shares", "long, short/rest"}});
        CHECK(contract.unites == std::vector{single_share("long").value(), single_share("short/rest").value()});
        CHECK(contract.needs.shares.size() == 2);
        CHECK(culprit_of(unite_stage(), {{"shares", "long"}}) == "shares: found one share, expected at least two");
        CHECK(culprit_of(unite_stage(), {{"shares", "long, long"}}) == "shares: found share 'long' twice, expected it once");
        CHECK(reason_to_refuse(unite_stage().parameters.front(), "long, tile") ==
              "found \"long, tile\", expected a list of shares, such as [\"long\", \"short/rest\"]");
    }
}

}  // namespace workbench
