// The levels of detail of a page: exact counts at every level, the deepest that fits.
#include <limits>
#include <map>
#include <stdexcept>
#include <utility>

#include <doctest/doctest.h>

#include "support/battery.hpp"
#include "viz/pyramid.hpp"

using namespace workbench;

namespace {

using Place = std::pair<Index, Index>;

/// Nonzeros of all and of plane 1, by bin row and bin column.
std::map<Place, std::pair<Offset, Offset>> bins_of(const PyramidLevel& level) {
    std::map<Place, std::pair<Offset, Offset>> bins;
    for (Index row = 0; row < level.row_bins; ++row) {
        for (Offset k = level.row_offsets[row]; k < level.row_offsets[row + 1]; ++k) {
            const Offset others = level.others.empty() ? 0 : level.others[k];
            CHECK(bins.emplace(Place{row, level.columns[k]}, std::pair{level.counts[k], others}).second);
            if (k > level.row_offsets[row]) CHECK(level.columns[k - 1] < level.columns[k]);
        }
    }
    return bins;
}

/// Every third entry in the first share.
void split(StagedMatrix& staged) {
    const CsrMatrix& matrix = staged.matrix;
    std::vector<Share> shares(2);
    shares[0].id.kind = ShareKind::near;
    shares[1].id.kind = ShareKind::far;
    for (Index row = matrix.rows - 1; row >= 0; --row) {
        for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
            shares[(row + matrix.column_indices[k]) % 3 == 0 ? 0 : 1].entries.push_back(k);
        }
        for (Share& share : shares) {
            if (static_cast<Offset>(share.entries.size()) == share.row_offsets.back()) continue;
            share.rows.push_back(row);
            share.row_offsets.push_back(static_cast<Offset>(share.entries.size()));
        }
    }
    staged.shares = std::move(shares);
}

void check_pyramid(const StagedMatrix& staged, const Pyramid& pyramid) {
    const CsrMatrix& matrix = staged.matrix;
    for (std::size_t i = 0; i < pyramid.levels.size(); ++i) {
        const PyramidLevel& level = pyramid.levels[i];
        CHECK(level.shift == pyramid.levels.front().shift + static_cast<int>(i));
        std::map<Place, std::pair<Offset, Offset>> expected;
        for (Index row = 0; row < matrix.rows; ++row) {
            for (const Index column : matrix.row_columns(row)) {
                auto& [count, others] = expected[{row >> level.shift, column >> level.shift}];
                ++count;
                if (!staged.shares.empty() && (row + column) % 3 != 0) ++others;
            }
        }
        CHECK(level.others.size() == (staged.shares.empty() ? 0 : level.counts.size()));
        CHECK(bins_of(level) == expected);
    }
}

CsrMatrix spread(Index rows, Index columns, Index per_row) {
    std::vector<Entry> entries;
    for (Index row = 0; row < rows; ++row) {
        for (Index k = 0; k < per_row; ++k) entries.push_back({row, (row * 31 + k * 97) % columns, 1});
    }
    return csr_from_entries(rows, columns, entries);
}

}  // namespace

TEST_CASE("each level of a pyramid holds exactly the nonzeros of its bins") {
    std::vector<NamedMatrix> matrices = battery();
    matrices.push_back({"tall", spread(997, 613, 7)});
    matrices.push_back({"wide", spread(401, 3009, 5)});
    for (const NamedMatrix& named : matrices) {
        for (const Offset most : {Offset{1}, Offset{60}, Offset{1000}, most_entries_shown}) {
            CAPTURE(named.name);
            CAPTURE(most);
            StagedMatrix staged = stage_input(named.matrix);
            check_pyramid(staged, build_pyramid(staged, most, 16));
            split(staged);
            check_pyramid(staged, build_pyramid(staged, most, 16));
        }
    }
}

TEST_CASE("a pyramid goes as deep as its bins fit") {
    const StagedMatrix staged = stage_input(spread(2000, 2000, 5));
    CHECK(build_pyramid(staged, 10'000, 16).shows_entries());
    CHECK(build_pyramid(staged, 10'000, 16).levels.back().row_bins == 16);
    for (const Offset most : {Offset{300}, Offset{1000}, Offset{3000}, Offset{9999}}) {
        const Pyramid pyramid = build_pyramid(staged, most, 16);
        CHECK_FALSE(pyramid.shows_entries());
        CHECK(pyramid.levels.front().bins() <= most);
        const Pyramid whole = build_pyramid(staged, 10'000, 16);
        CHECK(whole.levels.at(pyramid.levels.front().shift - 1).bins() > most);  // one deeper would not fit
        CHECK(pyramid.levels.front() == whole.levels.at(pyramid.levels.front().shift));
    }
    CHECK(build_pyramid(staged, 1, 16).levels.size() == 1);
    CHECK(build_pyramid(stage_input(csr_from_entries(0, 5, {})), 10, 4).levels.front().bins() == 0);
    CHECK_THROWS_AS((void)build_pyramid(staged, 0), std::invalid_argument);
    CHECK_THROWS_AS((void)build_pyramid(staged, 10, 0), std::invalid_argument);
}

TEST_CASE("a pyramid of very many columns needs no place for each") {
    constexpr Index last = std::numeric_limits<Index>::max() - 1;
    std::vector<Entry> entries;
    for (Index k = 0; k < 900; ++k) entries.push_back({k % 3, last - k * 2'000'000, 1});
    StagedMatrix staged;
    staged.matrix = csr_from_entries(3, last + 1, entries);
    const Pyramid pyramid = build_pyramid(staged);
    CHECK(pyramid.levels.front().columns.back() == last - 4'000'000);
    CHECK(pyramid.levels.front().bins() == 900);
    CHECK(pyramid.levels.back().bins() == 215);  // of 256; below 349 million there is nothing
}

TEST_CASE("in a pyramid of tiles rows lie as they are stored") {
    StagedMatrix staged = stage_input(csr_from_entries(4, 4, std::vector<Entry>{{1, 0, 1}, {3, 1, 1}, {0, 2, 1}, {2, 3, 1}}));
    staged.cuts = {{CutKind::row_block, {0, 4}}, {CutKind::segment, {0, 2, 4}}};
    staged.shares = {{{ShareKind::tile, 0, 0}, {3, 1}, {0, 1, 2}, {3, 1}},
                     {{ShareKind::tile, 0, 1}, {0, 2}, {0, 1, 2}, {0, 2}}};
    const Pyramid pyramid = build_pyramid(staged);
    CHECK(pyramid.tiles == 2);
    CHECK(pyramid.levels.front().row_offsets == std::vector<Offset>{0, 2, 4, 4, 4});
    CHECK(pyramid.levels.front().columns == std::vector<Index>{1, 2, 0, 3});
}
