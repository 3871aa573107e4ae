// The stage split: by a partition, and by the first k of each row.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/matrix/battery.hpp"
#include "stages/stages.hpp"
#include "stages/steps.hpp"

namespace workbench {
namespace {

StagedMatrix split_result(const CsrMatrix& matrix, Given given, StageResult* result = nullptr) {
    given["by"] = std::string("first_k");
    StagedMatrix staged = stage_input(matrix);
    const StageResult found = pass(staged, split_stage(), given);
    if (result != nullptr) *result = found;
    return staged;
}

/// Rows of these lengths, with every other column from the right end of a wide matrix.
CsrMatrix rows_of_lengths(const std::vector<Index>& lengths) {
    constexpr Index columns = 40;
    std::vector<Entry> entries;
    for (Index row = 0; row < static_cast<Index>(lengths.size()); ++row) {
        for (Index i = 0; i < lengths[row]; ++i) entries.push_back({row, columns - 1 - 2 * i, 1.0 + i});
    }
    return csr_from_entries(static_cast<Index>(lengths.size()), columns, entries);
}

/// The k of a rule, from the note. Checks that it is the longest row of share 'first'.
std::string chosen(const std::vector<Index>& lengths, const std::string& rule) {
    StageResult result;
    const Given given = rule.empty() ? Given{} : Given{{"k", rule}};
    const StagedMatrix staged = split_result(rows_of_lengths(lengths), given, &result);
    Offset longest = 0;
    const ShareView first = staged.share({ShareKind::first});
    for (Index i = 0; i < first.row_count(); ++i) longest = std::max(longest, first.length(i));
    CHECK(result.notes.at(0).first == "k");
    if (staged.matrix.nonzeros() > 0) CHECK(std::to_string(longest) == result.notes.at(0).second);
    return result.notes.at(0).second;
}

}  // namespace

TEST_SUITE("split") {
    TEST_CASE("inside and outside list the rows present in them") {
        const Step step = run(split_stage(), {{"by", "inside_partition"}}, six_rows_cut_at({0, 3, 6}));
        const Share inside{{ShareKind::inside}, {0, 1, 3, 4, 5}, {0, 1, 3, 4, 6, 7}, {0, 1, 2, 5, 8, 9, 10}};
        const Share outside{{ShareKind::outside}, {1, 3, 4}, {0, 1, 2, 4}, {3, 4, 6, 7}};
        CHECK(step.after.shares == std::vector{inside, outside});
        CHECK(step.note("inside") == "7 nonzeros in 5 rows");
        CHECK_FALSE(step.result.change.order.has_value());
        check_invariants(step.after, six_rows());
    }

    TEST_CASE("with one partition, outside is empty") {
        const Step step = run(split_stage(), {{"by", "inside_partition"}}, six_rows_cut_at({0, 6, 6}));
        CHECK(step.after.find_share({ShareKind::inside})->rows == Indices{0, 1, 3, 4, 5});
        CHECK(*step.after.find_share({ShareKind::outside}) == Share{{ShareKind::outside}, {}, {0}, {}});
    }
}

TEST_CASE("split by first_k: the entries and rows of both shares") {
    StageResult result;
    const StagedMatrix staged = split_result(rows_of_lengths({1, 3, 0, 2, 4, 1}), {{"k", std::int64_t{2}}}, &result);
    CHECK(staged.shares ==
          std::vector{Share{{ShareKind::first}, {0, 1, 3, 4, 5}, {0, 1, 3, 5, 7, 8}, {0, 1, 2, 4, 5, 6, 7, 10}},
                      Share{{ShareKind::rest}, {1, 4}, {0, 1, 3}, {3, 8, 9}}});
    CHECK(result.notes == std::vector<std::pair<std::string, std::string>>{
                              {"k", "2"}, {"first", "8 nonzeros in 5 rows"}, {"rest", "3 nonzeros in 2 rows"}});
    CHECK_FALSE(result.change.order.has_value());
}

TEST_CASE("split by first_k: the largest k that a third of the rows have") {
    CHECK(chosen({5, 1, 1}, "one_third") == "5");
    CHECK(chosen({5, 1, 1, 1}, "one_third") == "1");  // a quarter is less than a third
    CHECK(chosen({5, 4, 1, 1}, "one_third") == "4");
    CHECK(chosen({1, 2, 3, 4, 5, 6}, "one_third") == "5");
    CHECK(chosen({1, 2, 3, 4, 5, 6, 7}, "one_third") == "5");
    CHECK(chosen({3, 3, 3, 3}, "one_third") == "3");
    CHECK(chosen({3, 0, 0, 0}, "one_third") == "1");  // instead of 0
    CHECK(chosen({7}, "one_third") == "7");
    CHECK(chosen({5, 4, 1, 1}, "") == "4");  // the default
}

TEST_CASE("split by first_k: the mean length, rounded up") {
    CHECK(chosen({3, 3, 3}, "mean") == "3");
    CHECK(chosen({3, 3, 4}, "mean") == "4");
    CHECK(chosen({9, 0, 0}, "mean") == "3");
    CHECK(chosen({1, 0, 0}, "mean") == "1");
    CHECK(chosen({0, 0}, "mean") == "1");
    CHECK(chosen({}, "mean") == "1");
}

TEST_CASE("split by first_k: battery; no row has more than k entries in share first") {
    for (const NamedMatrix& named : battery()) {
        CAPTURE(named.name);
        for (const ParameterValue& k : {ParameterValue("one_third"), ParameterValue("mean"), ParameterValue(std::int64_t{1})}) {
            StageResult result;
            const StagedMatrix staged = split_result(named.matrix, {{"k", k}}, &result);
            check_invariants(staged, named.matrix);
            const Offset most = std::stoll(result.notes.at(0).second);
            const ShareView first = staged.share({ShareKind::first});
            Index rows_with_entries = 0;
            for (Index row = 0; row < named.matrix.rows; ++row) rows_with_entries += named.matrix.row_length(row) > 0 ? 1 : 0;
            CHECK(first.row_count() == rows_with_entries);
            for (Index i = 0; i < first.row_count(); ++i) {
                CHECK(first.length(i) == std::min(most, named.matrix.row_length(first.row(i))));
            }
        }
    }
}

TEST_CASE("split: contract and errors") {
    const auto contract = [](const Given& given) { return contract_of(split_stage(), given); };
    const StageContract first = contract({{"by", "first_k"}});
    CHECK(first.needs.unsplit);
    CHECK_FALSE(first.needs.square);
    CHECK(first.needs.cuts.empty());
    REQUIRE(first.gives_shares.size() == 2);
    CHECK(first.gives_shares[0].kind == ShareKind::first);
    CHECK(first.gives_shares[1].kind == ShareKind::rest);
    CHECK(contract({{"by", "inside_partition"}}).needs.square);
    try {
        (void)contract({{"by", "inside_partition"}, {"k", std::int64_t{3}}});
        FAIL("k was accepted");
    } catch (const ParameterError& error) {
        CHECK(error.parameter == "k");
        CHECK(std::string(error.what()) == "k is for by = \"first_k\", but by is \"inside_partition\"");
    }
}

}  // namespace workbench
