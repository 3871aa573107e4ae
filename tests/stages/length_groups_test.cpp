// The stage length_groups: comparison with Algorithm 3 of Staircase SELL, and the notes and errors of the stage.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/matrix/battery.hpp"
#include "core/matrix/random.hpp"
#include "kernels/formats/staircase_sell/length_groups.hpp"
#include "stages/stages.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

using Indices = std::vector<Index>;
using Lengths = std::vector<Offset>;

/// counts[i] rows of length i.
Lengths rows_of(const Indices& counts) {
    Lengths lengths;
    for (std::size_t i = 0; i < counts.size(); ++i) lengths.insert(lengths.end(), counts[i], static_cast<Offset>(i));
    return lengths;
}

/// Algorithm 3, line by line, for h[i] rows of length i. Returns row_ptr. Lines 17 to 19 of the source do not append the last
/// group to row_ptr and step_ptr; this function does.
Indices algorithm_3(Indices h, Index sh, double alpha) {
    Index n = 0;
    for (const Index rows : h) n += rows;
    const std::size_t mnz = h.size() - 1;
    Indices row_ptr{0};
    for (std::size_t i = 0; i < mnz; ++i) {
        if (static_cast<double>(h[i]) / n < alpha) {
            h[i + 1] += h[i];
            h[i] = 0;
        } else {
            const Index num_blocks = h[i] / sh;
            h[i + 1] += h[i] - sh * num_blocks;
            h[i] = sh * num_blocks;
            row_ptr.push_back(row_ptr.back() + h[i]);
        }
    }
    row_ptr.push_back(row_ptr.back() + h[mnz]);
    return row_ptr;
}

/// An unsymmetric matrix with rows of these lengths: row i begins in column i and wraps around.
CsrMatrix matrix_of_lengths(const Lengths& lengths) {
    const auto size = static_cast<Index>(lengths.size());
    std::vector<Entry> entries;
    for (Index row = 0; row < size; ++row) {
        for (Offset k = 0; k < lengths[row]; ++k) entries.push_back({row, static_cast<Index>((row + k) % size), 1.0});
    }
    return csr_from_entries(size, size, entries);
}

StageResult run_groups(const Lengths& lengths, std::int64_t slice_height, double alpha) {
    const StageEntry stage = length_groups_stage();
    const Parameters parameters(stage.parameters, {{"slice_height", slice_height}, {"alpha", alpha}});
    return stage.run(stage_input(matrix_of_lengths(lengths)), parameters, {});
}

}  // namespace

TEST_CASE("length groups: remainders are passed on, and the last group has all remaining rows") {
    // 5 rows of length 1 make a slice of 4 and pass 1 on; 3 + 1 rows of length 2 make a slice; 2 rows of length 3 remain.
    CHECK(length_groups(rows_of({0, 5, 3, 2}), 4, 0) == Indices{0, 4, 8, 10});
    // 3 rows of length 0 do not fill a slice; with 6 rows of length 1 they make two, and pass 1 on to the last group.
    CHECK(length_groups(rows_of({3, 6, 0, 1}), 4, 0) == Indices{0, 8, 10});
    // Rows without nonzeros can be a group.
    CHECK(length_groups(rows_of({4, 4}), 4, 0) == Indices{0, 4, 8});
    CHECK(length_groups(rows_of({7}), 4, 0) == Indices{0, 7});
    CHECK(length_groups({}, 4, 0) == Indices{0});
}

TEST_CASE("length groups: groups below alpha are passed on, except for the last one") {
    const Lengths lengths = rows_of({0, 40, 8, 0, 51, 1});
    CHECK(length_groups(lengths, 4, 0) == Indices{0, 40, 48, 96, 100});
    CHECK(length_groups(lengths, 4, 0.08) == Indices{0, 40, 48, 96, 100});  // 8 of 100 rows are not below 0.08
    CHECK(length_groups(lengths, 4, 0.081) == Indices{0, 40, 96, 100});     // 8 + 51 rows: 14 slices, and 3 rows are passed on
    CHECK(length_groups(lengths, 4, 0.5) == Indices{0, 96, 100});           // 40 and 8 rows are passed on to 51
    CHECK(length_groups(lengths, 4, 1) == Indices{0, 100});
}

TEST_CASE("length groups: slice height and alpha are parameters") {
    const Lengths lengths = rows_of({0, 40, 8, 0, 51, 1});
    CHECK(run_groups(lengths, 4, 0).change.cuts.at(0).boundaries == Indices{0, 40, 48, 96, 100});
    CHECK(run_groups(lengths, 4, 0.5).change.cuts.at(0).boundaries == Indices{0, 96, 100});
    CHECK(run_groups(lengths, 4, 1).change.cuts.at(0).boundaries == Indices{0, 100});
    CHECK(run_groups(lengths, 50, 0).change.cuts.at(0).boundaries == Indices{0, 50, 100});
}

TEST_CASE("length groups: equal to Algorithm 3 for every alpha that it allows, and to the smallest of these below") {
    std::uint64_t seed = 1;
    const auto random = [&seed](Index below) { return static_cast<Index>(mixed(++seed) % static_cast<std::uint64_t>(below)); };
    int groups = 0;
    for (int repetition = 0; repetition < 500; ++repetition) {
        Indices counts(1 + random(12));
        for (Index& count : counts) count = random(3) == 0 ? 0 : random(60);
        counts.back() += 1;
        const Lengths lengths = rows_of(counts);
        const auto rows = static_cast<double>(lengths.size());
        const Index height = 1 + random(16);
        const double least = std::min(1.0, height / rows);
        for (const double alpha : {least, least + 0.01 * random(30), 0.5}) {
            if (alpha < least || alpha > 1) continue;
            CHECK(length_groups(lengths, height, alpha) == algorithm_3(counts, height, alpha));
        }
        const Indices found = length_groups(lengths, height, least);
        CHECK(length_groups(lengths, height, 0) == found);
        CHECK(length_groups(lengths, height, least / 2) == found);
        groups += static_cast<int>(found.size()) - 1;
    }
    CHECK(groups > 1000);  // not all cases are trivial
}

TEST_CASE("length groups: invalid arguments are refused") {
    CHECK_THROWS_AS((void)length_groups(Lengths{2, 1}, 4, 0), std::invalid_argument);
    CHECK_THROWS_AS((void)length_groups(Lengths{1}, 0, 0), std::invalid_argument);
    CHECK_THROWS_AS((void)length_groups(Lengths{1}, 4, 1.5), std::invalid_argument);
    CHECK_THROWS_AS((void)length_groups(Lengths{1}, 4, std::nan("")), std::invalid_argument);
}

TEST_CASE("stage length_groups: gives cuts, and changes nothing else") {
    const StageResult result = run_groups(rows_of({0, 5, 3, 2}), 4, 0);
    CHECK_FALSE(result.change.order.has_value());
    CHECK_FALSE(result.change.shares.has_value());
    REQUIRE(result.change.cuts.size() == 1);
    CHECK(result.change.cuts[0] == Cuts{CutKind::length_group, {0, 4, 8, 10}});
    CHECK(result.notes[0] == std::pair<std::string, std::string>{"groups", "3"});
    CHECK(result.notes[1] == std::pair<std::string, std::string>{"rows passed on to a wider group", "1"});
    const StageContract contract = length_groups_stage().contract({});
    CHECK(contract.gives_cuts == std::vector<CutKind>{CutKind::length_group});
    CHECK_FALSE(contract.acts.has_value());
    CHECK_FALSE(contract.needs.square);
}

TEST_CASE("stage length_groups: refuses rows that descend, and names the first of them") {
    CHECK(message_of<Unsuitable>([] {
              (void)run_groups({1, 2, 4, 3, 3}, 2, 0);
          }) ==
          "rows must ascend in length, but row 2 has 4 nonzeros and row 3 has 3: precede this stage by a row_sort with order = "
          "\"ascending\"");
}

TEST_CASE("stage length_groups: on the sorted battery, groups are multiples of the slice height") {
    const StageEntry sort = row_sort_stage();
    const StageEntry cut = length_groups_stage();
    for (const NamedMatrix& named : battery()) {
        CAPTURE(named.name);
        StagedMatrix staged = stage_input(named.matrix);
        const Parameters ascending(sort.parameters, {{"order", "ascending"}, {"apply", "rows"}});
        apply(staged, sort.run(staged, ascending, {}).change, {});
        for (const std::int64_t height : {1, 3, 32}) {
            const Parameters parameters(cut.parameters, {{"slice_height", height}});
            apply(staged, cut.run(staged, parameters, {}).change, {});
            check_invariants(staged, named.matrix);
            const Cuts& groups = *staged.find_cuts(CutKind::length_group);
            for (Index group = 0; group < groups.count(); ++group) {
                CHECK(groups.size(group) > 0);
                CHECK((group + 1 == groups.count() || groups.size(group) % height == 0));
            }
        }
    }
}

}  // namespace workbench
