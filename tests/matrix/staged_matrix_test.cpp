// StagedMatrix: cuts, shares, consecutive orders, and violations of each invariant.
#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/matrix/battery.hpp"
#include "core/matrix/entries_behind.hpp"
#include "core/matrix/random.hpp"
#include "core/matrix/staged_matrix.hpp"
#include "matrix/placed.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

StageChange reorder(Acts acts, Permutation order) {
    StageChange change;
    change.order = OrderChange{acts, std::move(order)};
    return change;
}

// A 6 x 6 matrix with two partitions, row blocks and segments, split into inside and outside.
CsrMatrix whole_input() {
    return placed(6, 6, {{0, 0}, {0, 4}, {1, 1}, {1, 2}, {2, 0}, {2, 5}, {3, 3}, {4, 1}, {4, 4}, {5, 3}, {5, 4}, {5, 5}});
}

StagedMatrix whole_state() {
    StagedMatrix staged = stage_input(whole_input());
    StageChange change;
    change.cuts = {{CutKind::partition, {0, 3, 6}}, {CutKind::row_block, {0, 2, 2, 6}}, {CutKind::segment, {0, 4, 6}}};
    change.shares =
        std::vector<Share>{{{ShareKind::inside}, {0, 1, 2, 3, 4, 5}, {0, 1, 3, 4, 5, 6, 9}, {0, 2, 3, 4, 6, 8, 9, 10, 11}},
                           {{ShareKind::outside}, {4, 0, 2}, {0, 1, 2, 3}, {7, 1, 5}}};
    apply(staged, change, {});
    return staged;
}

}  // namespace

TEST_CASE("cuts: the piece of each position") {
    const Cuts cuts{CutKind::row_block, {0, 0, 2, 2, 5, 5}};
    CHECK(cuts.count() == 5);
    CHECK(cuts.size(0) == 0);
    CHECK(cuts.size(1) == 2);
    CHECK(cuts.size(3) == 3);
    CHECK(cuts.pieces() == std::vector<Index>{1, 1, 3, 3, 3});
    CHECK(Cuts{}.count() == 0);
    CHECK(Cuts{}.pieces().empty());
    for (const CutKind kind : {CutKind::partition, CutKind::row_block, CutKind::length_group, CutKind::segment}) {
        CHECK(cuts_rows(kind) == (kind != CutKind::segment));
        CHECK(cuts_columns(kind) == (kind == CutKind::segment || kind == CutKind::partition));
    }
    CHECK(name_of(CutKind::length_group) == "length_group");
}

TEST_CASE("views of shares and of the whole matrix") {
    const StagedMatrix staged = whole_state();
    const ShareView outside = staged.share({ShareKind::outside});
    CHECK(outside.row_count() == 3);
    CHECK(outside.entry_count() == 3);
    CHECK(outside.row(0) == 4);
    CHECK(outside.length(0) == 1);
    CHECK(staged.matrix.values[outside.entry(0, 0)] == 41);
    CHECK(staged.matrix.values[outside.entry(2, 0)] == 25);
    CHECK(staged.share({ShareKind::inside}).length(5) == 3);
    CHECK(staged.matrix.values[staged.share({ShareKind::inside}).entry(5, 2)] == 55);
    CHECK_THROWS_AS((void)staged.share({ShareKind::all}), std::out_of_range);  // it is split

    const StagedMatrix unsplit = stage_input(whole_input());
    const ShareView all = unsplit.share({ShareKind::all});
    CHECK(all.row_count() == 6);
    CHECK(all.entry_count() == 12);
    CHECK(all.row(5) == 5);
    CHECK(all.entry(5, 2) == 11);
    CHECK_THROWS_AS((void)unsplit.share({ShareKind::inside}), std::out_of_range);
}

TEST_CASE("the matrix remains P A Q^T after consecutive orders") {
    // Symmetric, then rows only, then columns only.
    const CsrMatrix input = placed(3, 3, {{0, 0}, {0, 1}, {1, 2}, {2, 1}});
    StagedMatrix staged = stage_input(input);
    apply(staged, reorder(Acts::symmetric, Permutation::from_old_of_new({2, 0, 1})), {});
    CHECK(staged.matrix == csr_from_entries(3, 3, std::vector<Entry>{{0, 2, 21}, {1, 1, 0}, {1, 2, 1}, {2, 0, 12}}));
    CHECK_NOTHROW(check_invariants(staged, input));
    apply(staged, reorder(Acts::rows, Permutation::from_old_of_new({1, 2, 0})), {});
    CHECK(staged.matrix == csr_from_entries(3, 3, std::vector<Entry>{{0, 1, 0}, {0, 2, 1}, {1, 0, 12}, {2, 2, 21}}));
    CHECK(staged.row_order.is_identity());
    CHECK(staged.column_order == Permutation::from_old_of_new({2, 0, 1}));
    CHECK_NOTHROW(check_invariants(staged, input));
    apply(staged, reorder(Acts::columns, Permutation::from_old_of_new({1, 0, 2})), {});
    CHECK(staged.column_order == Permutation::from_old_of_new({0, 2, 1}));
    CHECK_NOTHROW(check_invariants(staged, input));

    for (const NamedMatrix& named : battery()) {
        const CsrMatrix& matrix = named.matrix;
        CAPTURE(named.name);
        StagedMatrix state = stage_input(matrix);
        CHECK_NOTHROW(check_invariants(state, matrix));
        apply(state, reorder(Acts::rows, random_permutation(matrix.rows, 3)), {});
        apply(state, reorder(Acts::columns, random_permutation(matrix.columns, 4)), {});
        if (matrix.square()) apply(state, reorder(Acts::symmetric, random_permutation(matrix.rows, 5)), {});
        CHECK_NOTHROW(check_invariants(state, matrix));
    }
}

TEST_CASE("an order of the other axis and one that divides nodes are refused") {
    const auto refused = [](const CsrMatrix& matrix, StageChange change) {
        StagedMatrix staged = stage_input(matrix);
        CHECK_THROWS_AS(apply(staged, std::move(change), {}), std::logic_error);
        CHECK_NOTHROW(check_invariants(staged, matrix));
    };
    const CsrMatrix wide = placed(2, 3, {{0, 0}, {1, 2}});
    refused(wide, reorder(Acts::rows, random_permutation(3, 1)));
    refused(wide, reorder(Acts::columns, random_permutation(2, 1)));
    refused(wide, reorder(Acts::symmetric, random_permutation(2, 1)));
    refused(wide, reorder(Acts::symmetric, random_permutation(3, 1)));
    StageChange nodes;
    nodes.node_size = 2;
    for (const Acts acts : {Acts::rows, Acts::columns, Acts::symmetric}) {
        StagedMatrix staged = stage_input(placed(4, 4, {{0, 1}, {3, 2}}));
        apply(staged, reorder(acts, Permutation::from_old_of_new({0, 2, 1, 3})), {});
        CHECK_THROWS_AS(apply(staged, nodes, {}), std::logic_error);
    }
}

TEST_CASE("entries that follow several orders at once give the same matrix as entries that follow each order") {
    for (const NamedMatrix& named : battery()) {
        const CsrMatrix& matrix = named.matrix;
        CAPTURE(named.name);
        StagedMatrix at_once = stage_input(matrix);
        StagedMatrix late = stage_input(matrix);
        std::optional<EntriesBehind> behind;
        const auto both = [&](const StageChange& change) {
            apply(at_once, change, {});
            apply(late, change, {}, behind);
            CHECK(late.matrix.row_offsets == at_once.matrix.row_offsets);
            CHECK(late.matrix.rows == at_once.matrix.rows);
            CHECK(late.matrix.columns == at_once.matrix.columns);
        };
        const auto follow = [&] {
            catch_up(late, behind);
            CHECK(!behind);
            CHECK(late.row_order == at_once.row_order);
            CHECK(late.column_order == at_once.column_order);
            CHECK(late.cuts == at_once.cuts);
            CHECK(late.matrix == at_once.matrix);
            CHECK_NOTHROW(check_invariants(late, matrix));
        };
        StageChange cut;
        cut.cuts = {{CutKind::row_block, {0, matrix.rows}}};
        follow();  // a no-op
        both(reorder(Acts::rows, random_permutation(matrix.rows, 3)));
        CHECK(late.matrix.values.empty());  // until the entries follow
        CHECK(late.matrix.column_indices.empty());
        both(cut);
        if (matrix.square()) both(reorder(Acts::symmetric, random_permutation(matrix.rows, 5)));
        both(reorder(Acts::columns, random_permutation(matrix.columns, 4)));
        both(reorder(Acts::rows, random_permutation(matrix.rows, 6)));
        both(cut);
        follow();
        both(reorder(Acts::columns, random_permutation(matrix.columns, 7)));
        follow();
    }
}

TEST_CASE("an order drops all shares, and the cuts of its axes that it does not keep") {
    const auto kinds_after = [](Acts acts, const std::vector<CutKind>& keeps) {
        StagedMatrix staged = whole_state();
        apply(staged, reorder(acts, random_permutation(6, 1)), keeps);
        CHECK(staged.shares.empty());
        CHECK_NOTHROW(check_invariants(staged, whole_input()));
        std::vector<CutKind> kinds;
        for (const Cuts& cuts : staged.cuts) kinds.push_back(cuts.kind);
        return kinds;
    };
    using enum CutKind;
    CHECK(kinds_after(Acts::symmetric, {}).empty());
    CHECK(kinds_after(Acts::rows, {}) == std::vector{segment});
    CHECK(kinds_after(Acts::columns, {}) == std::vector{row_block});
    CHECK(kinds_after(Acts::symmetric, {partition}) == std::vector{partition});
    CHECK(kinds_after(Acts::rows, {partition, row_block}) == std::vector{partition, row_block, segment});
}

TEST_CASE("new cuts replace cuts of the same kind") {
    StagedMatrix staged = whole_state();
    StageChange change;
    change.cuts = {{CutKind::row_block, {0, 6}}};
    apply(staged, change, {});
    CHECK(staged.cuts.size() == 3);
    CHECK(staged.find_cuts(CutKind::row_block)->count() == 1);
    CHECK(staged.find_cuts(CutKind::length_group) == nullptr);
    CHECK(staged.find_share({ShareKind::inside}) != nullptr);  // cuts do not affect shares
    for (const std::vector<Index>& boundaries :
         std::vector<std::vector<Index>>{{}, {0}, {0, 5}, {1, 6}, {0, 4, 3, 6}, {0, 7}}) {
        change.cuts = {{CutKind::segment, boundaries}};
        CHECK_THROWS_AS(apply(staged, change, {}), std::logic_error);
    }
}

TEST_CASE("a share whose offsets descend is refused") {
    StagedMatrix staged = whole_state();
    CHECK_NOTHROW(check_shares(staged));
    staged.shares.front().row_offsets = {0, 1, 4, 3, 5, 6, 9};
    CHECK_THROWS_WITH_AS(check_shares(staged), doctest::Contains("has offsets that descend"), std::logic_error);
}

TEST_CASE("an order of a share changes only its storage") {
    StagedMatrix staged = whole_state();
    StageChange change;
    change.storage = {{{ShareKind::outside}, Permutation::from_old_of_new({1, 2, 0})}};
    apply(staged, change, {});
    CHECK(staged.find_share({ShareKind::outside})->rows == std::vector<Index>{0, 2, 4});
    CHECK(staged.find_share({ShareKind::outside})->entries == std::vector<Offset>{1, 5, 7});
    CHECK(staged.matrix == whole_input());
    CHECK(staged.cuts.size() == 3);
    CHECK_NOTHROW(check_invariants(staged, whole_input()));
    // Rows of different lengths: the last stored row, with three entries, moves to the front.
    change.storage = {{{ShareKind::inside}, Permutation::from_old_of_new({5, 0, 1, 2, 3, 4})}};
    apply(staged, change, {});
    CHECK(staged.find_share({ShareKind::inside})->row_offsets == std::vector<Offset>{0, 3, 4, 6, 7, 8, 9});
    CHECK(staged.find_share({ShareKind::inside})->entries == std::vector<Offset>{9, 10, 11, 0, 2, 3, 4, 6, 8});
    CHECK_NOTHROW(check_invariants(staged, whole_input()));

    // Two shares at once; a refused change affects neither.
    change.storage = {{{ShareKind::inside}, Permutation::from_old_of_new({1, 2, 3, 4, 5, 0})},
                      {{ShareKind::outside}, Permutation::from_old_of_new({2, 0, 1})}};
    apply(staged, change, {});
    CHECK(staged.shares == whole_state().shares);
    const auto refused = [&staged](std::vector<StorageOrder> storage) {
        StageChange wrong;
        wrong.storage = std::move(storage);
        CHECK_THROWS_AS(apply(staged, wrong, {}), std::logic_error);
        CHECK(staged.shares == whole_state().shares);
    };
    refused({{{ShareKind::inside}, Permutation::from_old_of_new({5, 0, 1, 2, 3, 4})},
             {{ShareKind::outside}, Permutation::identity(2)}});
    refused({{{ShareKind::first}, Permutation::identity(3)}});
    refused({{{ShareKind::outside, 0, 1}, Permutation::identity(3)}});
    refused({{{ShareKind::outside}, Permutation::identity(3)}, {{ShareKind::inside}, Permutation::identity(6)}});
}

TEST_CASE("orders of the wrong size are refused") {
    StagedMatrix staged = stage_input(placed(2, 3, {{0, 0}, {1, 2}}));
    CHECK_THROWS_AS(apply(staged, reorder(Acts::symmetric, Permutation::identity(2)), {}), std::logic_error);
    CHECK_THROWS_AS(apply(staged, reorder(Acts::rows, Permutation::identity(3)), {}), std::logic_error);
    CHECK_THROWS_AS(apply(staged, reorder(Acts::columns, Permutation::identity(2)), {}), std::logic_error);
    CHECK_NOTHROW(apply(staged, reorder(Acts::columns, Permutation::identity(3)), {}));
}

TEST_CASE("nodes stay together") {
    const CsrMatrix input = placed(6, 6, {{0, 0}, {1, 4}, {2, 2}, {3, 0}, {4, 5}, {5, 1}});
    StagedMatrix staged = stage_input(input, 2);
    CHECK_NOTHROW(apply(staged, reorder(Acts::symmetric, Permutation::from_old_of_new({4, 5, 0, 1, 2, 3})), {}));
    CHECK_NOTHROW(check_invariants(staged, input));
    for (const std::vector<Index>& torn :
         std::vector<std::vector<Index>>{{1, 0, 2, 3, 4, 5}, {0, 2, 1, 3, 4, 5}, {1, 2, 3, 4, 5, 0}}) {
        CHECK_THROWS_AS(apply(staged, reorder(Acts::symmetric, Permutation::from_old_of_new(torn)), {}), std::logic_error);
        CHECK_THROWS_AS(apply(staged, reorder(Acts::rows, Permutation::from_old_of_new(torn)), {}), std::logic_error);
    }
    CHECK_NOTHROW(check_invariants(staged, input));  // a refused change has no effect
    CHECK_THROWS_AS((void)stage_input(input, 0), std::invalid_argument);
    CHECK_THROWS_AS((void)stage_input(input, 4), std::invalid_argument);
    CHECK_THROWS_AS((void)stage_input(placed(4, 6, {}), 2), std::invalid_argument);
}

TEST_CASE("check_invariants detects a violation of each invariant") {
    const CsrMatrix input = whole_input();
    CHECK_NOTHROW(check_invariants(whole_state(), input));
    const auto broken = [&input](const std::function<void(StagedMatrix&)>& breaks) {
        StagedMatrix staged = whole_state();
        breaks(staged);
        CHECK_THROWS_AS(check_invariants(staged, input), std::logic_error);
    };
    // The matrix and its orders.
    broken([](StagedMatrix& s) { s.matrix.values[3] = 99; });
    broken([](StagedMatrix& s) { s.matrix.values[0] = -s.matrix.values[0]; });  // 0 and -0 differ
    broken([](StagedMatrix& s) { s.matrix.column_indices[1] = 5; });
    broken([](StagedMatrix& s) { s.matrix.row_offsets[1] = 9; });
    broken([](StagedMatrix& s) { s.matrix.columns = 7; });
    broken([](StagedMatrix& s) { s.row_order = random_permutation(6, 1); });
    broken([](StagedMatrix& s) { s.column_order = random_permutation(6, 1); });
    broken([](StagedMatrix& s) { s.row_order = Permutation::identity(5); });
    broken([](StagedMatrix& s) { s.matrix = permute(s.matrix, random_permutation(6, 1), Permutation::identity(6)); });
    // A permutation applied in the wrong direction.
    broken([](StagedMatrix& s) {
        const Permutation order = Permutation::from_old_of_new({1, 2, 0, 3, 4, 5});
        s.matrix = permute(s.matrix, order, order);
        s.row_order = s.column_order = Permutation::from_new_of_old({1, 2, 0, 3, 4, 5});
        s.shares.clear();
    });
    // Cuts.
    broken([](StagedMatrix& s) { s.cuts[0].boundaries = {0, 3, 5}; });
    broken([](StagedMatrix& s) { s.cuts[1].boundaries = {1, 6}; });
    broken([](StagedMatrix& s) { s.cuts[2].boundaries = {0, 5, 4, 6}; });
    broken([](StagedMatrix& s) { s.cuts[2].boundaries.clear(); });
    broken([](StagedMatrix& s) { s.cuts.push_back(s.cuts[0]); });
    // Nodes.
    broken([](StagedMatrix& s) {
        s.row_order = s.column_order = Permutation::from_old_of_new({1, 0, 2, 3, 4, 5});
        s.matrix = permute(s.matrix, s.row_order, s.row_order);
        s.shares.clear();
        s.node_size = 2;
    });
    // Shares.
    const auto broken_share = [&broken](const std::function<void(Share&, Share&)>& breaks) {
        broken([&breaks](StagedMatrix& s) { breaks(s.shares[0], s.shares[1]); });
    };
    broken([](StagedMatrix& s) { s.shares.pop_back(); });                // entries in no share
    broken([](StagedMatrix& s) { s.shares.push_back(s.shares[1]); });    // entries in two shares
    broken_share([](Share& inside, Share&) { inside.entries[0] = 1; });  // in two shares, and one in none
    broken_share([](Share& inside, Share&) { inside.rows.pop_back(); });
    broken_share([](Share& inside, Share&) { inside.rows[2] = 6; });
    broken_share([](Share& inside, Share&) { inside.rows[2] = -1; });
    broken_share([](Share& inside, Share&) { inside.rows[2] = 3; });    // listed twice
    broken_share([](Share&, Share& outside) { outside.rows[0] = 5; });  // the entry is in another row
    broken_share([](Share&, Share& outside) { outside.rows[0] = 0; });
    broken_share([](Share& inside, Share&) { inside.entries.pop_back(); });
    broken_share([](Share& inside, Share&) { inside.entries.push_back(7); });
    broken_share([](Share& inside, Share&) { inside.entries[3] = 12; });
    broken_share([](Share& inside, Share&) { inside.entries[3] = -1; });
    broken_share([](Share& inside, Share&) { std::swap(inside.entries[1], inside.entries[2]); });  // descends within a row
    broken_share([](Share& inside, Share&) { inside.row_offsets.clear(); });
    broken_share([](Share& inside, Share&) { inside.row_offsets[0] = 1; });
    broken_share([](Share& inside, Share&) {  // an entry before those of the first row
        inside.entries.insert(inside.entries.begin(), 0);
        for (Offset& offset : inside.row_offsets) ++offset;
    });
    broken_share([](Share& inside, Share&) { inside.row_offsets[2] = 0; });
    broken_share([](Share&, Share& outside) { outside.row_offsets[1] = 1000; });  // exceeds the entries, then descends
    broken_share([](Share&, Share& outside) { outside.row_offsets[1] = -1; });
    // Kinds and places.
    broken_share([](Share& inside, Share& outside) { std::swap(inside.id, outside.id); });
    broken_share([](Share& inside, Share& outside) { inside.id = outside.id; });
    broken([](StagedMatrix& s) { s.cuts[0].boundaries = {0, 2, 6}; });
    broken([](StagedMatrix& s) { s.cuts.erase(s.cuts.begin()); });
    broken_share([](Share& inside, Share&) { inside.id = {ShareKind::first}; });
    broken_share([](Share& inside, Share&) { inside.id = {.kind = ShareKind::segment, .segment = 0}; });
}

TEST_CASE("check_invariants detects shares at wrong places") {
    const CsrMatrix input = placed(3, 4, {{0, 0}, {0, 1}, {0, 3}, {1, 2}, {2, 0}, {2, 3}});
    const auto holds = [&input](std::vector<Cuts> cuts, std::vector<Share> shares) {
        StagedMatrix staged = stage_input(input);
        staged.cuts = std::move(cuts);
        staged.shares = std::move(shares);
        try {
            check_invariants(staged, input);
        } catch (const std::logic_error&) {
            return false;
        }
        return true;
    };
    const Cuts segments{CutKind::segment, {0, 2, 4}};
    const Cuts blocks{CutKind::row_block, {0, 1, 3}};
    const auto by_segment = [](ShareId left, ShareId right) {
        return std::vector<Share>{{left, {0, 2}, {0, 2, 3}, {0, 1, 4}}, {right, {0, 1, 2}, {0, 1, 2, 3}, {2, 3, 5}}};
    };
    const auto segment = [](Index at) { return ShareId{.kind = ShareKind::segment, .segment = at}; };
    CHECK(holds({segments}, by_segment(segment(0), segment(1))));
    CHECK_FALSE(holds({segments}, by_segment(segment(1), segment(0))));
    CHECK_FALSE(holds({segments}, by_segment(segment(0), segment(2))));
    CHECK_FALSE(holds({}, by_segment(segment(0), segment(1))));
    const auto by_tile = [](Index last_block, Index last_segment) {
        return std::vector<Share>{{{ShareKind::tile, 0, 0}, {0}, {0, 2}, {0, 1}},
                                  {{ShareKind::tile, 0, 1}, {0}, {0, 1}, {2}},
                                  {{ShareKind::tile, 1, 0}, {2}, {0, 1}, {4}},
                                  {{ShareKind::tile, last_block, last_segment}, {2, 1}, {0, 1, 2}, {5, 3}}};
    };
    CHECK(holds({blocks, segments}, by_tile(1, 1)));
    CHECK_FALSE(holds({blocks, segments}, by_tile(2, 1)));
    CHECK_FALSE(holds({blocks, segments}, by_tile(1, 2)));
    CHECK_FALSE(holds({blocks, segments}, by_tile(1, 0)));  // this tile exists already
    CHECK_FALSE(holds({segments}, by_tile(1, 1)));
    const auto by_number = [](ShareKind one, ShareKind other) {
        return std::vector<Share>{{{one}, {0, 1, 2}, {0, 2, 3, 4}, {0, 1, 3, 4}}, {{other}, {0, 2}, {0, 1, 2}, {2, 5}}};
    };
    CHECK(holds({}, by_number(ShareKind::first, ShareKind::rest)));
    CHECK_FALSE(holds({}, by_number(ShareKind::rest, ShareKind::first)));
}

TEST_CASE("the entries of a share that was split again belong to the share that it was split from") {
    const CsrMatrix input = placed(4, 4, {{0, 0}, {0, 3}, {1, 1}, {2, 2}, {3, 0}});
    const auto check = [&input](const Share& long_inside, const Share& outside) {
        StagedMatrix staged = stage_input(input);
        staged.cuts = {{CutKind::partition, {0, 2, 4}}};
        const Share short_inside{{.kind = ShareKind::short_rows, .within = {ShareKind::inside}}, {1, 2}, {0, 1, 2}, {2, 3}};
        staged.shares = {long_inside, short_inside, outside};
        check_invariants(staged, input);
    };
    const ShareId inside{.kind = ShareKind::long_rows, .within = {ShareKind::inside}};
    CHECK_NOTHROW(check({inside, {0}, {0, 1}, {0}}, {{ShareKind::outside}, {0, 3}, {0, 1, 2}, {1, 4}}));
    CHECK(message_of<std::logic_error>([&] {
              check({inside, {0}, {0, 2}, {0, 1}}, {{ShareKind::outside}, {3}, {0, 1}, {4}});
          }).find("has entry 1, which does not belong to it") != std::string::npos);
}

TEST_CASE("names of shares, and texts that select them") {
    CHECK(name_of(ShareId{ShareKind::outside}) == "outside");
    CHECK(name_of(ShareId{.kind = ShareKind::segment, .segment = 3}) == "segment 3");
    CHECK(name_of(ShareId{ShareKind::tile, 12, 0}) == "tile 12,0");
    for (const ShareKind kind : kinds_of_shares) {
        const auto choice = share_choice(name_of(kind));
        REQUIRE(choice);
        CHECK(*choice == ShareChoice{kind});
        CHECK(name_of(*choice) == name_of(kind));
        CHECK(choice->includes({kind, 0, 2}));
        CHECK_FALSE(choice->includes({ShareKind::all}));
    }
    const auto tile = share_choice("tile 2147483647,10");
    REQUIRE(tile);
    CHECK(*tile == ShareChoice{ShareKind::tile, ShareId{ShareKind::tile, 2147483647, 10}});
    CHECK(name_of(*tile) == "tile 2147483647,10");
    CHECK(tile->includes({ShareKind::tile, 2147483647, 10}));
    CHECK_FALSE(tile->includes({ShareKind::tile, 10, 2147483647}));
    CHECK_FALSE(tile->includes({.kind = ShareKind::segment, .segment = 10}));
    CHECK(share_choice("segment 0")->one == ShareId{.kind = ShareKind::segment, .segment = 0});
    for (const char* wrong :
         {"", "all", "outsid", "inside 0", "tile ", "tile 0", "tile 0,", "tile ,0", "tile 0,1,2", "tile 0, 1", "tile  0,1",
          "tile -1,0", "tile 0,01", "tile 0,2147483648", "tile 0,1 ", "Tile 0,1", "segment 1,0", "segment +1", "segment x"}) {
        CAPTURE(wrong);
        CHECK_FALSE(share_choice(wrong));
    }
}

TEST_CASE("values are compared by their bits, so a NaN equals itself") {
    CsrMatrix input = placed(2, 2, {{0, 0}, {1, 1}});
    input.values[1] = std::numeric_limits<double>::quiet_NaN();
    CHECK_NOTHROW(check_invariants(stage_input(input), input));
}

}  // namespace workbench
