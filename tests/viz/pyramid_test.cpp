// The levels of detail of a page: exact counts at every level, the finest that fits.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <stdexcept>
#include <utility>

#include <doctest/doctest.h>

#include "core/matrix/battery.hpp"
#include "support/split_shares.hpp"
#include "viz/pyramid.hpp"

namespace workbench {
namespace {

using Bins = std::map<std::pair<Index, Index>, std::vector<Offset>>;  // (bin row, bin column) -> count of each plane

Bins bins_of(const PyramidLevel& level) {
    Bins bins;
    for (Index row = 0; row < level.row_bins(); ++row) {
        for (Offset i = level.row_offsets[row]; i < level.row_offsets[row + 1]; ++i) {
            const auto first = level.counts.begin() + i * level.planes;
            CHECK(bins.emplace(std::pair{row, level.bin_columns[i]}, std::vector(first, first + level.planes)).second);
            if (i > level.row_offsets[row]) CHECK(level.bin_columns[i - 1] < level.bin_columns[i]);
        }
    }
    return bins;
}

/// Puts entry (row, column) into share (row + column) % count.
void split(StagedMatrix& staged, int count) {
    staged.shares = split_shares(staged.matrix, count, [&](Index row, Index column) { return (row + column) % count; });
    for (int i = 0; i < count; ++i) staged.shares[i].id = {ShareKind::near, i, 0};
}

Bins brute_force(const CsrMatrix& matrix, int row_bits, int column_bits, int shares) {
    const int planes = std::min(shares, most_planes);
    Bins bins;
    for (Index row = 0; row < matrix.rows; ++row) {
        for (const Index column : matrix.row_columns(row)) {
            std::vector<Offset>& counts = bins[{row >> row_bits, column >> column_bits}];
            counts.resize(planes);
            ++counts[std::min((row + column) % shares, planes - 1)];
        }
    }
    return bins;
}

CsrMatrix spread(Index rows, Index columns, Index per_row) {
    std::vector<Entry> entries;
    for (Index row = 0; row < rows; ++row) {
        for (Index k = 0; k < per_row; ++k) entries.push_back({row, (row * 31 + k * 97) % columns, 1});
    }
    return csr_from_entries(rows, columns, entries);
}

struct Levels {
    std::vector<std::string> plane_names;
    std::vector<PyramidLevel> levels;  // the finest first, down to a single bin
};

Levels all_levels(const StagedMatrix& staged, Offset most = most_bins_of_level) {
    const Pyramid pyramid = build_pyramid(staged, most);
    Levels all{pyramid.plane_names, {pyramid.finest}};
    for (PyramidLevel next = coarser(all.levels.back()); next != all.levels.back(); next = coarser(all.levels.back())) {
        all.levels.push_back(next);
    }
    return all;
}

Index largest(Index length, int bits) { return length == 0 ? 0 : ((length - 1) >> bits) + 1; }

}  // namespace

TEST_CASE("each level of a pyramid counts exactly the nonzeros of its bins") {
    std::vector<NamedMatrix> matrices = battery();
    matrices.push_back({"tall", spread(997, 613, 7)});
    matrices.push_back({"very tall", spread(3001, 5, 3)});
    matrices.push_back({"wide", spread(401, 3009, 5)});
    for (const NamedMatrix& named : matrices) {
        for (const Offset most : {Offset{1}, Offset{60}, most_bins_of_level}) {
            for (const int shares : {1, 2, 9}) {
                CAPTURE(named.name);
                CAPTURE(most);
                CAPTURE(shares);
                StagedMatrix staged = stage_input(named.matrix);
                if (shares > 1) split(staged, shares);
                const Levels pyramid = all_levels(staged, most);
                CHECK(pyramid.levels.front().bins() <= most);
                CHECK(pyramid.levels.front().shows_entries() == (named.matrix.nonzeros() <= most));
                CHECK(pyramid.levels.back().bins() <= 1);
                CHECK(static_cast<int>(pyramid.plane_names.size()) == std::min(shares, most_planes));
                for (const PyramidLevel& level : pyramid.levels) {
                    CHECK(level.row_bins() == largest(named.matrix.rows, level.row_bits));
                    CHECK(bins_of(level) == brute_force(named.matrix, level.row_bits, level.column_bits, shares));
                    CHECK(level == count_bins(staged, level.row_bits, level.column_bits));
                }
            }
        }
    }
}

TEST_CASE("the axis with fewer bins is halved once the other one is near it") {
    const Levels pyramid = all_levels(stage_input(spread(1000, 100, 2)));
    std::vector<std::pair<int, int>> bits;
    for (const PyramidLevel& level : pyramid.levels) bits.emplace_back(level.row_bits, level.column_bits);
    // 1000, 500, 250 and 125 row bins with 100 column bins; then both axes are halved.
    CHECK(bits == std::vector<std::pair<int, int>>{
                      {0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 1}, {5, 2}, {6, 3}, {7, 4}, {8, 5}, {9, 6}, {10, 7}});
}

TEST_CASE("a pyramid begins with the finest level within the limit") {
    const StagedMatrix staged = stage_input(spread(2000, 2000, 5));
    const Levels whole = all_levels(staged, 10'000);
    CHECK(whole.levels.front().shows_entries());
    for (const Offset most : {Offset{1}, Offset{7}, Offset{300}, Offset{1000}, Offset{3000}, Offset{9999}}) {
        CAPTURE(most);
        const Levels pyramid = all_levels(staged, most);
        CHECK_FALSE(pyramid.levels.front().shows_entries());
        CHECK(pyramid.levels.front().bins() <= most);
        CHECK(whole.levels.at(pyramid.levels.front().row_bits - 1).bins() > most);  // the next finer level exceeds the limit
        CHECK(pyramid.levels.front() == whole.levels.at(pyramid.levels.front().row_bits));
    }
    for (const PyramidLevel& level : whole.levels) {
        const auto same = std::ranges::find(whole.levels, level.bins(), &PyramidLevel::bins);
        CHECK(all_levels(staged, level.bins()).levels.front() == *same);  // the finest one that has as many bins
    }
    // Four dense blocks: their finer levels have four times the bins, coarser ones twice.
    std::vector<Entry> entries;
    for (Index row = 0; row < 64; ++row) {
        for (Index k = 0; k < 16; ++k) entries.push_back({row, row / 16 * 16 + k, 1});
    }
    for (const Offset most : {60, 63}) {
        CHECK(build_pyramid(stage_input(csr_from_entries(64, 64, entries)), most).finest.bins() == 16);
    }
    CHECK(all_levels(staged, 1).levels.size() == 1);
    CHECK(build_pyramid(stage_input(csr_from_entries(0, 5, {})), 10).finest.bins() == 0);
    CHECK_THROWS_AS((void)build_pyramid(staged, 0), std::invalid_argument);
}

TEST_CASE("a pyramid of very many columns needs no dense rows") {
    constexpr Index last = std::numeric_limits<Index>::max() - 1;
    std::vector<Entry> entries;
    for (Index k = 0; k < 900; ++k) entries.push_back({k % 3, last - k * 2'000'000, 1});
    StagedMatrix staged;
    staged.matrix = csr_from_entries(3, last + 1, entries);
    split(staged, 2);
    const Levels pyramid = all_levels(staged);
    CHECK(pyramid.levels.front().bin_columns.back() == last - 4'000'000);
    CHECK(pyramid.levels.front().bins() == 900);
    CHECK(pyramid.levels.back().bins() == 1);
    for (const PyramidLevel& level : pyramid.levels) {
        CHECK(bins_of(level) == brute_force(staged.matrix, level.row_bits, level.column_bits, 2));
    }
}

TEST_CASE("a pyramid of very many columns keeps shares that alternate within a bin apart") {
    // Columns 0 to 5 of the first level are bins 0 to 2 of the next; their shares are 0 1 0 1 0 1.
    constexpr Index columns = 1 << 23;
    std::vector<Entry> entries;
    for (Index row = 0; row < 3; ++row) {
        for (const Index column : {0, 1, 2, 3, 4, 5, columns - 2, columns - 1}) entries.push_back({row, column, 1});
    }
    StagedMatrix staged;
    staged.matrix = csr_from_entries(3, columns, entries);
    split(staged, 2);
    for (const PyramidLevel& level : all_levels(staged).levels) {
        CHECK(bins_of(level) == brute_force(staged.matrix, level.row_bits, level.column_bits, 2));
    }
}

TEST_CASE("in a pyramid of tiles rows are placed as they are stored") {
    StagedMatrix staged = stage_input(csr_from_entries(4, 4, std::vector<Entry>{{1, 0, 1}, {3, 1, 1}, {0, 2, 1}, {2, 3, 1}}));
    staged.cuts = {{CutKind::row_block, {0, 4}}, {CutKind::segment, {0, 2, 4}}};
    staged.shares = {{{ShareKind::tile, 0, 0}, {3, 1}, {0, 1, 2}, {3, 1}},
                     {{ShareKind::tile, 0, 1}, {0, 2}, {0, 1, 2}, {0, 2}}};
    const Levels pyramid = all_levels(staged);
    CHECK(pyramid.plane_names == std::vector<std::string>{"nonzeros"});
    CHECK(pyramid.levels.front().planes == 1);
    CHECK(pyramid.levels.front().row_offsets == std::vector<Offset>{0, 2, 4, 4, 4});
    CHECK(pyramid.levels.front().bin_columns == std::vector<Index>{1, 2, 0, 3});
}

}  // namespace workbench
