// Placement of rows by a hash of their lengths, and in groups of minimum padding: exact results, and properties for all
// lengths.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/matrix/battery.hpp"
#include "core/matrix/metrics.hpp"
#include "core/matrix/random.hpp"
#include "stages/least_padding.hpp"
#include "stages/length_hash.hpp"
#include "stages/order.hpp"
#include "stages/stages.hpp"
#include "stages/steps.hpp"

namespace workbench {
namespace {

std::vector<StageEntry> both_stages() { return {nonlinear_hash_stage(), dynamic_program_groups_stage()}; }

/// The rows of the input in their new order.
Indices row_order_after(const StageEntry& stage, const Given& given, StagedMatrix staged) {
    pass(staged, stage, given);
    return {staged.row_order.old_of_new().begin(), staged.row_order.old_of_new().end()};
}

/// Lengths like those of real matrices: most rows are short, some are long.
Indices skewed_lengths(Index rows, std::uint64_t seed) {
    Indices lengths;
    for (Index row = 0; row < rows; ++row) {
        const std::uint64_t bits = mixed(seed + static_cast<std::uint64_t>(row) * random_step);
        lengths.push_back(static_cast<Index>(1 + bits % 20 + (bits >> 32) % 50 / 49 * ((bits >> 48) % 900)));
    }
    return lengths;
}

bool is_permutation_of_rows(Indices list) {
    std::sort(list.begin(), list.end());
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (list[i] != static_cast<Index>(i)) return false;
    }
    return true;
}

/// The iterations of warps with one lane per row.
Offset iterations_of(const Indices& lengths, const Indices& old_of_new) {
    Offsets offsets{0};
    for (const Index row : old_of_new) offsets.push_back(offsets.back() + lengths[row]);
    return warp_iterations(offsets);
}

}  // namespace

TEST_CASE("hash: classes are exact for short rows, monotonic, and differ by at most a sixteenth") {
    for (Index length = 0; length < 32; ++length) CHECK(length_class(length) == length);
    CHECK(length_class(32) == 32);
    CHECK(length_class(33) == 32);
    CHECK(length_class(34) == 33);
    CHECK(length_class(63) == 47);
    CHECK(length_class(64) == 48);
    CHECK(length_class(2147483647) == 447);
    Index shortest = 32;
    for (Index length = 32; length < 100000; ++length) {
        const int step = length_class(length) - length_class(length - 1);
        CHECK((step == 0 || step == 1));
        if (step == 1) shortest = length;
        CHECK((length - shortest) * 16 <= shortest);
    }
}

TEST_CASE("hash: fitted to all rows, the starts are those of the sorted order") {
    const Indices lengths{1, 3, 0, 2, 4, 1};
    const LengthHash hash = fit_length_hash(lengths, 6);
    CHECK(hash.starts == Indices{0, 1, 3, 4, 5});
    const HashedRows placed = place_by_hash(lengths, hash);
    CHECK(placed.old_of_new == Indices{2, 0, 5, 3, 1, 4});
    CHECK(placed.probes == 6);  // one per row: the second row of length 1 resumes behind the first
    CHECK(place_by_hash({}, fit_length_hash({}, 6)).old_of_new.empty());
}

TEST_CASE("hash: fitted to a sample, the starts are slightly early and never descend") {
    Indices lengths;
    for (Index row = 0; row < 64; ++row) lengths.push_back(row / 16 % 2 == 0 ? 1 : 3);
    const LengthHash hash = fit_length_hash(lengths, 4);  // one of each 16 rows, so two of four are short
    CHECK(hash.starts == Indices{0, 0, 24, 24});          // 32, minus 64 / 2 * sqrt(1 / 2 * 1 / 2 / 4)
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        const LengthHash fitted = fit_length_hash(skewed_lengths(5000, seed), 100);
        CHECK(std::is_sorted(fitted.starts.begin(), fitted.starts.end()));
        CHECK(fitted.starts.front() == 0);
        CHECK(fitted.starts.back() < 5000);
    }
}

TEST_CASE("hash: collisions are probed up to the end, and then backwards from the end") {
    const LengthHash hash{5, {0, 3}};
    // Rows 0 and 1 take slots 3 and 4; row 2 finds none from 3 on and takes 2; row 3 takes its slot; row 4 hashes to the last
    // one.
    CHECK(place_by_hash(Indices{1, 1, 1, 0, 7}, hash).old_of_new == Indices{3, 4, 2, 0, 1});
    // Probing skips slots that other lengths have taken.
    CHECK(place_by_hash(Indices{0, 0, 1, 0, 0}, LengthHash{5, {0, 1}}).old_of_new == Indices{0, 1, 2, 3, 4});
}

TEST_CASE("hash: for any lengths and sample, a bijection with few probes and fewer iterations of the warps") {
    for (const Index rows : {1, 31, 32, 33, 512, 5000}) {
        for (const Index sample : {1, 16, 128, 10000}) {
            for (const std::uint64_t seed : {1U, 2U, 3U}) {
                CAPTURE(rows);
                CAPTURE(sample);
                const Indices lengths = skewed_lengths(rows, seed);
                const HashedRows placed = place_by_hash(lengths, fit_length_hash(lengths, sample));
                CHECK(is_permutation_of_rows(placed.old_of_new));
                CHECK(placed.probes <= 4 * rows);
                if (rows >= 512 && sample >= 16)
                    CHECK(iterations_of(lengths, placed.old_of_new) < iterations_of(lengths, all_of(rows)));
            }
        }
    }
}

TEST_CASE("hash: fitted to all rows, classes ascend and rows of a class keep their order") {
    const Indices lengths = skewed_lengths(3000, 7);
    const Indices placed = place_by_hash(lengths, fit_length_hash(lengths, 3000)).old_of_new;
    for (std::size_t i = 1; i < placed.size(); ++i) {
        const int before = length_class(lengths[placed[i - 1]]);
        const int here = length_class(lengths[placed[i]]);
        CHECK((before < here || (before == here && placed[i - 1] < placed[i])));
    }
}

TEST_CASE("hash: linear time even if all rows collide") {
    constexpr Index rows = 200000;
    Indices ascending = all_of(rows);
    Indices descending(ascending.rbegin(), ascending.rend());
    for (const Indices& lengths : {Indices(rows, 5), ascending, descending}) {
        for (const Index sample : {1, 3, 1000}) {
            const HashedRows placed = place_by_hash(lengths, fit_length_hash(lengths, sample));
            CHECK(is_permutation_of_rows(placed.old_of_new));
            CHECK(placed.probes <= 8 * Offset{rows});
        }
    }
}

TEST_CASE("hash: the size of the sample is a parameter") {
    const Indices lengths = skewed_lengths(2000, 7);
    std::vector<Indices> rows;
    for (const Index length : lengths) rows.push_back(all_of(length));
    const StagedMatrix staged = stage_input(matrix_of(1000, rows));
    const auto order = [&](const Given& given) { return row_order_after(nonlinear_hash_stage(), given, staged); };
    const Given by_rows{{"apply", "rows"}};
    for (const Index sample : {3, 512, 2000}) {
        Given given = by_rows;
        given["sample"] = std::int64_t{sample};
        CHECK(order(given) == place_by_hash(lengths, fit_length_hash(lengths, sample)).old_of_new);
    }
    CHECK(order(by_rows) == place_by_hash(lengths, fit_length_hash(lengths, 512)).old_of_new);
    CHECK(place_by_hash(lengths, fit_length_hash(lengths, 3)).old_of_new !=
          place_by_hash(lengths, fit_length_hash(lengths, 512)).old_of_new);
}

TEST_CASE("groups of least padding: exact results") {
    const Indices lengths{10, 1, 11, 1, 10, 1};
    CHECK(groups_of_least_padding(lengths, 1) == LengthGroups{{11}, 32});
    CHECK(groups_of_least_padding(lengths, 2) == LengthGroups{{1, 11}, 2});
    CHECK(groups_of_least_padding(lengths, 3) == LengthGroups{{1, 10, 11}, 0});
    CHECK(groups_of_least_padding(lengths, 9) == LengthGroups{{1, 10, 11}, 0});
    CHECK(groups_of_least_padding(Indices{0, 0}, 4) == LengthGroups{{0}, 0});
    CHECK(groups_of_least_padding({}, 4) == LengthGroups{});
}

TEST_CASE("groups of least padding: optimal among all ways to cut") {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        Indices lengths;
        for (Index row = 0; row < 25; ++row) lengths.push_back(static_cast<Index>(mixed(seed * 100 + row) % (seed + 2)));
        Indices distinct = lengths;
        std::sort(distinct.begin(), distinct.end());
        distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
        if (distinct.size() > 12) distinct.resize(12);
        std::erase_if(lengths, [&](Index length) { return length > distinct.back(); });
        const auto padding_of = [&](const Indices& longest) {
            std::int64_t padding = 0;
            for (const Index length : lengths) {
                padding += *std::lower_bound(longest.begin(), longest.end(), length) - length;
            }
            return padding;
        };
        std::vector<std::int64_t> least(distinct.size() + 1, padding_of({distinct.back()}));  // by the number of groups
        for (unsigned cuts = 0; cuts < 1U << (distinct.size() - 1); ++cuts) {
            Indices longest;
            for (std::size_t i = 0; i + 1 < distinct.size(); ++i) {
                if ((cuts >> i & 1U) != 0) longest.push_back(distinct[i]);
            }
            longest.push_back(distinct.back());
            for (std::size_t groups = longest.size(); groups < least.size(); ++groups) {
                least[groups] = std::min(least[groups], padding_of(longest));
            }
        }
        for (std::size_t groups = 1; groups < least.size(); ++groups) {
            const LengthGroups found = groups_of_least_padding(lengths, static_cast<Index>(groups));
            CHECK(found.padding == least[groups]);
            CHECK(found.longest.size() <= groups);
            CHECK(std::is_sorted(found.longest.begin(), found.longest.end()));
            CHECK(padding_of(found.longest) == found.padding);
        }
    }
}

TEST_CASE("groups of least padding: thousands of distinct lengths") {
    const LengthGroups groups = groups_of_least_padding(all_of(40000), 64);
    CHECK(groups.longest.size() == 64);
    // Equal groups of 625 lengths, each with a padding of 0 + 1 + ... + 624.
    CHECK(groups.padding == 64 * (625 * 624 / 2));
}

TEST_CASE("both stages: an order of the rows, or of rows and columns") {
    for (const StageEntry& stage : both_stages()) {
        CAPTURE(stage.name);
        CHECK(row_order_after(stage, {{"apply", std::string("rows")}}, stage_input(six_rows())) == Indices{2, 0, 5, 3, 1, 4});
        StagedMatrix staged = stage_input(six_rows());
        pass(staged, stage, {});
        CHECK(staged.row_order == staged.column_order);
        CHECK_NOTHROW(check_invariants(staged, six_rows()));
    }
}

TEST_CASE("both stages: within partitions, and nodes stay together") {
    for (const StageEntry& stage : both_stages()) {
        CAPTURE(stage.name);
        StagedMatrix staged = stage_input(six_rows());
        staged.cuts = {{CutKind::partition, {0, 3, 3, 6}}};
        pass(staged, stage, {{"within", std::string("partition")}});
        CHECK(Indices(staged.row_order.old_of_new().begin(), staged.row_order.old_of_new().end()) == Indices{2, 0, 1, 5, 3, 4});
        CHECK(staged.find_cuts(CutKind::partition)->boundaries == Indices{0, 3, 3, 6});
        // Nodes of lengths 3, 2, 4.
        CHECK(row_order_after(stage, {}, stage_input(six_rows(), 2)) == Indices{2, 3, 0, 1, 4, 5});
    }
}

TEST_CASE("both stages: the storage of tiles") {
    for (const StageEntry& stage : both_stages()) {
        CAPTURE(stage.name);
        StagedMatrix staged = stage_input(six_rows());
        pass(staged, row_blocks_stage(), {{"height", std::int64_t{3}}});
        pass(staged, column_segmentation_stage(), {{"width", std::int64_t{3}}});
        const std::vector<Share> before = staged.shares;
        const StageResult result = pass(staged, stage, {{"within", std::string("tile")}});
        CHECK_FALSE(result.change.order.has_value());
        REQUIRE(staged.shares.size() == 4);
        CHECK(staged.shares[0] == before[0]);  // lengths 1, 2: unchanged
        CHECK(staged.shares[3] == Share{before[3].id, {3, 5, 4}, {0, 1, 2, 4}, {5, 10, 8, 9}});
        CHECK_NOTHROW(check_invariants(staged, six_rows()));
        const TileMetrics metrics = measure(staged).tiles.value();
        CHECK(metrics.count == 4);
        CHECK(metrics.rows_present == 8);
        CHECK(metrics.warp_iterations == 2 + 1 + 2 + 2);
        CHECK(metrics.idle_lanes == doctest::Approx(1 - 11 / (32 * 7.0)));
        CHECK_FALSE(measure(stage_input(six_rows())).tiles.has_value());
    }
}

TEST_CASE("both stages: battery") {
    for (const StageEntry& stage : both_stages()) {
        for (const NamedMatrix& named : battery()) {
            CAPTURE(stage.name);
            CAPTURE(named.name);
            StagedMatrix by_rows = stage_input(named.matrix);
            pass(by_rows, stage, {{"apply", std::string("rows")}});
            CHECK_NOTHROW(check_invariants(by_rows, named.matrix));
            StagedMatrix tiles = stage_input(named.matrix);
            pass(tiles, row_blocks_stage(), {{"count", std::int64_t{2}}});
            pass(tiles, column_segmentation_stage(), {{"count", std::int64_t{3}}});
            pass(tiles, stage, {{"within", std::string("tile")}});
            CHECK_NOTHROW(check_invariants(tiles, named.matrix));
            if (const auto metrics = measure(tiles).tiles) {
                const double lanes = 32.0 * static_cast<double>(metrics->warp_iterations) * (1 - metrics->idle_lanes);
                CHECK(lanes == doctest::Approx(static_cast<double>(named.matrix.nonzeros())));
            }
        }
    }
}

TEST_CASE("both stages: contracts and notes") {
    for (const StageEntry& stage : both_stages()) {
        CAPTURE(stage.name);
        const StageContract tiles = contract_of(stage, {{"within", std::string("tile")}});
        CHECK(tiles.needs.cuts == std::vector<CutKind>{CutKind::row_block, CutKind::segment});
        CHECK(tiles.needs.shares == std::vector<ShareChoice>{{ShareKind::tile}});
        CHECK_FALSE(tiles.acts.has_value());
        CHECK(contract_of(stage, {}).needs.square);
        CHECK_FALSE(contract_of(stage, {{"apply", std::string("rows")}}).needs.square);
        CHECK(contract_of(stage, {{"within", std::string("partition")}}).keeps == std::vector<CutKind>{CutKind::partition});
        CHECK_THROWS_AS((void)contract_of(stage, {{"within", std::string("tile")}, {"apply", std::string("rows")}}),
                        ParameterError);
    }
    StagedMatrix staged = stage_input(six_rows());
    CHECK(pass(staged, nonlinear_hash_stage(), {}).notes ==
          std::vector<std::pair<std::string, std::string>>{{"tables", "1"}, {"probes a row", "1"}});
    CHECK(pass(staged, dynamic_program_groups_stage(), {{"groups", std::int64_t{2}}}).notes ==
          std::vector<std::pair<std::string, std::string>>{{"groups", "2"}, {"padding of the groups", "4"}});
    // Lengths 1, 3, 0 and 2, 4, 1 in two partitions: 2 + 0 + 3 and 2 + 0 + 3.
    StagedMatrix partitions = stage_input(six_rows());
    partitions.cuts = {{CutKind::partition, {0, 3, 6}}};
    const Given in_one_group{{"within", std::string("partition")}, {"groups", std::int64_t{1}}};
    CHECK(pass(partitions, dynamic_program_groups_stage(), in_one_group).notes ==
          std::vector<std::pair<std::string, std::string>>{{"groups", "2"}, {"padding of the groups", "10"}});
}

}  // namespace workbench
