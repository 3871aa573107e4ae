// Names of shares, and a share as a separate matrix.
#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "core/matrix/share_matrix.hpp"

namespace workbench {
namespace {

/// A 4 x 4 matrix with 7 nonzeros in reverse order, split into a share of the rows 3 and 1, stored in this order, and the rest.
StagedMatrix reversed() {
    StagedMatrix staged = stage_input(csr_from_entries(
        4, 4, std::vector<Entry>{{0, 0, 1}, {0, 3, 2}, {1, 1, 3}, {2, 0, 4}, {2, 2, 5}, {3, 1, 6}, {3, 3, 7}}));
    StageChange change;
    change.order = OrderChange{Acts::symmetric, Permutation::from_old_of_new({3, 2, 1, 0})};
    apply(staged, change, {});
    // Now: row 0 has 7 6 at columns 0 2; row 1 has 5 4 at 1 3; row 2 has 3 at 2; row 3 has 2 1 at 0 3.
    StageChange split;
    split.cuts = {{CutKind::row_block, {0, 2, 4}}, {CutKind::segment, {0, 1, 4}}};
    split.shares = std::vector<Share>{{{ShareKind::long_rows}, {3, 1}, {0, 2, 3}, {5, 6, 3}},
                                      {{ShareKind::short_rows}, {0, 1, 2}, {0, 2, 3, 4}, {0, 1, 2, 4}}};
    apply(staged, split, {});
    return staged;
}

/// The same, with the share of rows 3 and 1 split into the first nonzero of each row and the rest.
StagedMatrix reversed_and_split() {
    StagedMatrix staged = reversed();
    StageChange split;
    split.shares = std::vector<Share>{{single_share("long/first").value(), {3, 1}, {0, 1, 2}, {5, 3}},
                                      {single_share("long/rest").value(), {3}, {0, 1}, {6}},
                                      staged.shares[1]};
    apply(staged, split, {});
    check_shares(staged);
    return staged;
}

}  // namespace

TEST_CASE("shares: names of shares that were split again") {
    const ShareId shorter{ShareKind::short_rows};
    const ShareId first = share_within(shorter, ShareKind::first).value();
    const ShareId near = share_within(first, ShareKind::near).value();
    CHECK(name_of(first) == "short/first");
    CHECK(name_of(near) == "short/first/near");
    CHECK(single_share("short/first/near") == near);
    CHECK(single_share("short") == shorter);
    CHECK(share_choice("short/first") == ShareChoice{ShareKind::first, first});
    CHECK(share_within({}, ShareKind::near) == ShareId{ShareKind::near});
    for (const ShareKind kind : kinds_of_shares) CHECK(share_choice(name_of(kind)) == ShareChoice{kind});

    for (const char* wrong : {"short/", "/short", "short//first", "short/none", "short/tile", "tile/first", "segment 1/near",
                              "short/tile 0,1", "short /first", "all", ""}) {
        CAPTURE(wrong);
        CHECK_FALSE(share_choice(wrong).has_value());
    }
    CHECK_FALSE(single_share("tile").has_value());
    CHECK_FALSE(single_share("segment 3").has_value());

    // A kind does not include shares that were split from another share.
    CHECK(ShareChoice{ShareKind::first}.includes({ShareKind::first}));
    CHECK_FALSE(ShareChoice{ShareKind::first}.includes(first));
    CHECK(ShareChoice{ShareKind::first, first}.includes(first));
    CHECK_FALSE(ShareChoice{ShareKind::first, first}.includes({ShareKind::first}));
}

TEST_CASE("shares: the limit of splitting again") {
    std::string name = "near";
    ShareId id{ShareKind::near};
    for (std::size_t i = 0; i < most_splits_again; ++i) {
        id = share_within(id, ShareKind::first).value();
        name += "/first";
        CHECK(name_of(id) == name);
        CHECK(single_share(name) == id);
    }
    CHECK_FALSE(share_within(id, ShareKind::first).has_value());
    CHECK_FALSE(share_choice(name + "/first").has_value());
}

TEST_CASE("the matrix of a share with the rows present, in their order of storage") {
    const ShareMatrix share = matrix_of_share(reversed(), {ShareKind::long_rows}, RowsOfShare::present);
    CHECK(share.rows == std::vector<Index>{3, 1});
    CHECK(share.entries == std::vector<Offset>{5, 6, 3});
    CHECK(share.staged.matrix == csr_from_entries(2, 4, std::vector<Entry>{{0, 0, 2}, {0, 3, 1}, {1, 3, 4}}));
    CHECK(share.staged.shares.empty());
    CHECK(share.staged.row_order == Permutation::identity(2));
    CHECK(share.staged.column_order == Permutation::identity(4));
    REQUIRE(share.staged.cuts.size() == 1);
    CHECK(share.staged.cuts[0].kind == CutKind::segment);
}

TEST_CASE("the matrix of a share with all rows, regardless of its order of storage") {
    const ShareMatrix share = matrix_of_share(reversed(), {ShareKind::long_rows}, RowsOfShare::all);
    CHECK(share.rows.empty());
    CHECK(share.entries == std::vector<Offset>{3, 5, 6});
    CHECK(share.staged.matrix == csr_from_entries(4, 4, std::vector<Entry>{{1, 3, 4}, {3, 0, 2}, {3, 3, 1}}));
    CHECK(share.staged.cuts.size() == 2);
}

TEST_CASE("a share with all rows in order needs no list of rows") {
    StagedMatrix staged = reversed();
    staged.shares.clear();
    const ShareMatrix share = matrix_of_share(staged, {}, RowsOfShare::present);
    CHECK(share.rows.empty());
    CHECK(share.staged.matrix == staged.matrix);
    CHECK(share.staged.cuts.size() == 2);
}

TEST_CASE("the matrix of a share can take other values") {
    ShareMatrix share = matrix_of_share(reversed(), {ShareKind::long_rows}, RowsOfShare::present);
    share.take_values(std::vector<double>{10, 11, 12, 13, 14, 15, 16});
    CHECK(share.staged.matrix.values == std::vector<double>{15, 16, 13});
}

TEST_CASE("the matrix of a share that was split again has its parts as shares") {
    const StagedMatrix whole = reversed_and_split();
    const ShareMatrix present = matrix_of_share(whole, {ShareKind::long_rows}, RowsOfShare::present);
    CHECK(present.rows == std::vector<Index>{3, 1});
    CHECK(present.entries == std::vector<Offset>{5, 6, 3});
    CHECK(present.staged.shares ==
          std::vector{Share{{ShareKind::first}, {0, 1}, {0, 1, 2}, {0, 2}}, Share{{ShareKind::rest}, {0}, {0, 1}, {1}}});
    check_shares(present.staged);
    const ShareMatrix all = matrix_of_share(whole, {ShareKind::long_rows}, RowsOfShare::all);
    CHECK(all.staged.matrix == matrix_of_share(reversed(), {ShareKind::long_rows}, RowsOfShare::all).staged.matrix);
    CHECK(all.staged.shares ==
          std::vector{Share{{ShareKind::first}, {3, 1}, {0, 1, 2}, {1, 0}}, Share{{ShareKind::rest}, {3}, {0, 1}, {2}}});
    check_shares(all.staged);
    CHECK(share_of_input(whole, {ShareKind::long_rows}) == share_of_input(reversed(), {ShareKind::long_rows}));
    CHECK(matrix_of_share(whole, single_share("long/rest").value(), RowsOfShare::present).staged.shares.empty());
    CHECK(parts_of({ShareKind::long_rows}, whole.shares).size() == 2);
    CHECK(parts_of({ShareKind::short_rows}, whole.shares).empty());
    CHECK_THROWS_AS((void)matrix_of_share(whole, {ShareKind::near}, RowsOfShare::all), std::out_of_range);
}

TEST_CASE("the nonzeros of a share at their places in the input") {
    CHECK(share_of_input(reversed(), {ShareKind::long_rows}) ==
          csr_from_entries(4, 4, std::vector<Entry>{{0, 0, 1}, {0, 3, 2}, {2, 0, 4}}));
    CHECK(share_of_input(reversed(), {ShareKind::short_rows}) ==
          csr_from_entries(4, 4, std::vector<Entry>{{1, 1, 3}, {2, 2, 5}, {3, 1, 6}, {3, 3, 7}}));
}

}  // namespace workbench
