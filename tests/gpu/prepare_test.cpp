// Results that the GPU prepares equal those of the host, bit for bit. Suite `prepare` is small enough for compute-sanitizer,
// suite `shared_memory` for its racecheck.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "core/matrix/battery.hpp"
#include "core/matrix/random.hpp"
#include "gpu/gpu_matrices.hpp"
#include "kernels/formats/sell/layout.hpp"
#include "kernels/prepare/gpu_preparer.hpp"
#include "stages/length_hash.hpp"
#include "stages/order.hpp"
#include "stages/tile_split.hpp"
#include "support/given.hpp"
#include "support/layouts/preparation_checks.hpp"

namespace workbench {
namespace {

/// Row lengths of a table. `kind` 0: one in eight is long; 1: equal; 2: any up to 3000, log-uniform; 3: descending.
std::vector<Index> lengths_of_table(Index rows, int kind, std::uint64_t seed) {
    std::vector<Index> lengths(rows);
    for (Index row = 0; row < rows; ++row) {
        const std::uint64_t number = mixed(mixed(seed) + static_cast<std::uint64_t>(row));
        switch (kind) {
            case 0: lengths[row] = static_cast<Index>(number % 8 == 0 ? 40 + number / 8 % 200 : number / 8 % 6); break;
            case 1: lengths[row] = 7; break;
            case 2: lengths[row] = static_cast<Index>((number >> 32) % 3000 >> (number % 12)); break;
            default: lengths[row] = rows - row;
        }
    }
    return lengths;
}

/// Consecutive tables, placed on the GPU and on the host.
void check_hash(Preparer& preparer, const std::vector<Index>& tables, Index sample) {
    std::vector<Index> lengths;
    std::vector<Offset> first{0};
    std::vector<Index> expected;
    for (std::size_t i = 0; i < tables.size(); ++i) {
        const std::vector<Index> own = lengths_of_table(tables[i], static_cast<int>(i % 4), i);
        const std::vector<Index> placed = place_by_hash(own, fit_length_hash(own, sample)).old_of_new;
        lengths.insert(lengths.end(), own.begin(), own.end());
        expected.insert(expected.end(), placed.begin(), placed.end());
        first.push_back(static_cast<Offset>(lengths.size()));
    }
    const auto made = preparer.place_by_hash({lengths, first, sample});
    REQUIRE(made.has_value());
    CHECK_MESSAGE(*made == expected,
                  fmt::format("{} tables from {} rows on, sample {}", tables.size(), tables.front(), sample));
}

void check_sort(Preparer& preparer, Index count, Index most_key, Index group_count) {
    std::vector<Index> keys(count);
    std::vector<Index> groups(group_count == 0 ? 0 : count);
    for (Index i = 0; i < count; ++i) keys[i] = static_cast<Index>(mixed(i) % (std::uint64_t{1} + most_key));
    for (std::size_t i = 0; i < groups.size(); ++i) groups[i] = static_cast<Index>(mixed(i + 77) % group_count);
    for (const bool descending : {false, true}) {
        const SortTask task{keys, groups, descending};
        const auto made = preparer.sort(task);
        REQUIRE(made.has_value());
        std::vector<Index> expected = all_of(count);
        std::stable_sort(expected.begin(), expected.end(), [&](Index a, Index b) {
            if (!groups.empty() && groups[a] != groups[b]) return groups[a] < groups[b];
            return descending ? keys[a] > keys[b] : keys[a] < keys[b];
        });
        CHECK_MESSAGE(*made == expected, fmt::format("{} keys up to {}, {} groups", count, most_key, group_count));
    }
}

/// Every order, split and tiling of a matrix.
void check_matrix(Preparer& preparer, const CsrMatrix& matrix) {
    const Permutation rows = random_permutation(matrix.rows, 1);
    const Permutation columns = random_permutation(matrix.columns, 2);
    const Permutation as_it_is = Permutation::identity(matrix.columns);
    for (const Permutation* order : {&columns, &as_it_is}) {
        const auto moved = preparer.permute(matrix, rows, *order);
        REQUIRE(moved.has_value());
        CHECK(*moved == permute(matrix, rows, *order));
    }
    const Index height = std::max(matrix.rows / 7, 1);
    const Index width = std::max(matrix.columns / 11, 1);
    Cuts blocks{CutKind::row_block, {0}};
    Cuts segments{CutKind::segment, {0, 0}};  // the first is empty
    while (blocks.boundaries.back() < matrix.rows) {
        blocks.boundaries.push_back(std::min(blocks.boundaries.back() + height, matrix.rows));
    }
    while (segments.boundaries.back() < matrix.columns) {
        segments.boundaries.push_back(std::min(segments.boundaries.back() + width, matrix.columns));
    }
    for (const Cuts* of_rows : {static_cast<const Cuts*>(nullptr), static_cast<const Cuts*>(&blocks)}) {
        const auto tiles = preparer.split_into_tiles(matrix, of_rows, segments);
        REQUIRE(tiles.has_value());
        CHECK(*tiles == split_into_tiles(matrix, of_rows, segments));
    }
    const ShareView view(matrix);
    const auto divided = preparer.divide(matrix, view, {.by = Division::By::distance, .most = matrix.columns / 9});
    REQUIRE(divided.has_value());
    std::array<HostArray<Offset>, 2> expected;
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
            const Index away = std::max(row, matrix.column_indices[i]) - std::min(row, matrix.column_indices[i]);
            expected.at(away <= matrix.columns / 9 ? 0 : 1).push_back(i);
        }
    }
    CHECK(divided->entries == expected);
}

}  // namespace

TEST_SUITE("prepare") {
    TEST_CASE("every recipe of the layouts on the battery, prepared on the GPU and on the host") {
        const auto preparer = make_gpu_preparer();
        REQUIRE(preparer != nullptr);
        for (const auto& recipes : {layout_recipes(), hybrid_recipes()}) {
            for (const LayoutRecipe& one : recipes) {
                for (const NamedMatrix& each : battery()) check_preparer(*preparer, one, each.name, each.matrix);
            }
        }
    }

    TEST_CASE("slices, and their reported steps") {
        const auto preparer = make_gpu_preparer();
        const StagedMatrix host = stage_input(uneven_matrix(3001, 4000, 12));
        StagedMatrix other = host;
        other.preparer = preparer.get();
        const auto expected = build<float>(sell_entry(), host);
        const auto made = build<float>(sell_entry(), other);
        for (std::size_t i = 0; i < expected->fields().size(); ++i) {
            const LayoutField field = expected->fields()[i];
            REQUIRE(made->fields()[i].bytes() == field.bytes());
            CHECK(std::memcmp(made->fields()[i].data, field.data, field.bytes()) == 0);
        }
        const std::vector<PreparedStep> steps = preparer->take_steps();
        REQUIRE(steps.size() == 1);
        CHECK(steps[0].what == "slices");
        CHECK(steps[0].seconds > steps[0].transfer_seconds);
        CHECK(steps[0].transfer_seconds > 0);
        CHECK(preparer->take_steps().empty());
    }

    TEST_CASE("sorts") {
        const auto preparer = make_gpu_preparer();
        for (const Index count : {1, 2, 31, 1000, 70001}) {
            for (const Index most_key : {0, 1, 300, 2147483647}) {
                for (const Index groups : {0, 1, 50}) check_sort(*preparer, count, most_key, groups);
            }
        }
    }

    TEST_CASE("orders, splits and tiles of matrices with long, empty and many rows") {
        const auto preparer = make_gpu_preparer();
        check_matrix(*preparer, uneven_matrix(3001, 4000, 12));
        check_matrix(*preparer, matrix_of_rows({1, 0, 5000, 2, 40, 33, 0, 32, 31}, 6000));
    }

    TEST_CASE("empty hash tables and those above the limit are left to the host") {
        const auto preparer = make_gpu_preparer();
        const std::vector<Index> lengths(static_cast<std::size_t>(most_rows_of_hash_table) + 1, 3);
        const std::vector<Offset> first{0, most_rows_of_hash_table + 1};
        CHECK_FALSE(preparer->place_by_hash({lengths, first, 16}).has_value());
        CHECK_FALSE(preparer->sort({}).has_value());
        CHECK_FALSE(preparer->permute(CsrMatrix{}, {}, {}).has_value());
        CHECK(preparer->take_steps().empty());
    }
}

TEST_SUITE("shared_memory") {
    TEST_CASE("hash tables of all sizes, fitted to a sample and to all rows") {
        const auto preparer = make_gpu_preparer();
        std::vector<Index> tables;
        for (const Index rows : {0, 1, 2, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 500, 512, 1000}) {
            for (int kind = 0; kind < 4; ++kind) tables.push_back(rows);
        }
        for (const Index sample : {1, 7, 32, 512}) check_hash(*preparer, tables, sample);
    }
}

TEST_SUITE("prepare_large") {
    TEST_CASE("large hash tables, whose classes overflow into each other") {
        const auto preparer = make_gpu_preparer();
        for (const Index rows : {1024, 1025, 3000, most_rows_of_hash_table}) {
            for (const Index sample : {1, 16, 512, 4096}) check_hash(*preparer, {rows, rows, rows, rows, 5, 700}, sample);
        }
    }

    TEST_CASE("a large matrix and its transfers in many pieces") {
        const auto preparer = make_gpu_preparer();
        check_matrix(*preparer, uneven_matrix(200000, 250000, 30));
        check_sort(*preparer, 5000000, 100, 4000);
    }
}

}  // namespace workbench
