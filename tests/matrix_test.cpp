// The data that flows through the pipeline: directions pinned by exact answers, oracles, and every promise broken once.
#include <doctest/doctest.h>

#include <Eigen/Sparse>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>

#include "pipeline/matrix/metrics.hpp"
#include "pipeline/matrix/random.hpp"
#include "pipeline/matrix/staged_matrix.hpp"
#include "support/battery.hpp"
#include "support/eigen.hpp"

using namespace workbench;

namespace {

// 10 r + c at the places named, counted from 0: an entry tells where it came from.
CsrMatrix placed(Index rows, Index columns, const std::vector<std::pair<Index, Index>>& places) {
    std::vector<Entry> entries;
    for (const auto& [row, column] : places) entries.push_back({row, column, 10.0 * row + column});
    return csr_from_entries(rows, columns, entries);
}

// The same arrays as Eigen's: structure and values.
bool same(const CsrMatrix& matrix, EigenMatrix expected) {
    expected.makeCompressed();
    return matrix.rows == expected.rows() && matrix.columns == expected.cols() && matrix.nonzeros() == expected.nonZeros() &&
           std::equal(matrix.row_offsets.begin(), matrix.row_offsets.end(), expected.outerIndexPtr()) &&
           std::equal(matrix.column_indices.begin(), matrix.column_indices.end(), expected.innerIndexPtr()) &&
           std::equal(matrix.values.begin(), matrix.values.end(), expected.valuePtr());
}

// Eigen's permutation matrix maps old to new: (P A).row(new_of_old[i]) = A.row(i).
Eigen::PermutationMatrix<Eigen::Dynamic> to_eigen(const Permutation& order) {
    Eigen::PermutationMatrix<Eigen::Dynamic> result(order.size());
    for (Index i = 0; i < order.size(); ++i) result.indices()[i] = order.new_of_old(i);
    return result;
}

StageChange reorder(Acts acts, Permutation order) {
    StageChange change;
    change.order = OrderChange{acts, std::move(order), ""};
    return change;
}

// A 6 x 6 matrix in two partitions of 3, split into inside and outside: all that a StagedMatrix can hold.
CsrMatrix whole_input() {
    return placed(6, 6, {{0, 0}, {0, 4}, {1, 1}, {1, 2}, {2, 0}, {2, 5}, {3, 3}, {4, 1}, {4, 4}, {5, 3}, {5, 4}, {5, 5}});
}

StagedMatrix whole_state() {
    StagedMatrix staged = stage_input(whole_input());
    StageChange change;
    change.cuts = {{CutKind::partition, {0, 3, 6}}, {CutKind::row_block, {0, 2, 2, 6}}, {CutKind::segment, {0, 4, 6}}};
    change.parts = std::vector<Part>{{"inside", {0, 1, 2, 3, 4, 5}, {0, 1, 3, 4, 5, 6, 9}, {0, 2, 3, 4, 6, 8, 9, 10, 11}},
                                     {"outside", {4, 0, 2}, {0, 1, 2, 3}, {7, 1, 5}}};
    apply(staged, change, {});
    return staged;
}

}  // namespace

TEST_CASE("a permutation reads in the direction that it was built in") {
    // New place 0 holds the old thing 2, and so on.
    const Permutation order = Permutation::from_old_of_new({2, 0, 3, 1});
    CHECK(order.old_of_new(0) == 2);
    CHECK(order.new_of_old(2) == 0);
    CHECK(std::vector<Index>(order.new_of_old().begin(), order.new_of_old().end()) == std::vector<Index>{1, 3, 0, 2});
    CHECK(Permutation::from_new_of_old({1, 3, 0, 2}) == order);
    CHECK(Permutation::from_new_of_old({2, 0, 3, 1}) != order);
    CHECK_FALSE(order.is_identity());
    CHECK(Permutation::identity(4).is_identity());
    CHECK(Permutation().is_identity());
    CHECK(Permutation::identity(0) == Permutation());
}

TEST_CASE("then: the first order, then the next") {
    const Permutation first = Permutation::from_old_of_new({2, 0, 1});   // a b c -> c a b
    const Permutation second = Permutation::from_old_of_new({1, 0, 2});  // c a b -> a c b
    CHECK(first.then(second) == Permutation::from_old_of_new({0, 2, 1}));
    CHECK(second.then(first) == Permutation::from_old_of_new({2, 1, 0}));  // b a c -> c b a
    const Permutation back = Permutation::from_old_of_new({first.new_of_old().begin(), first.new_of_old().end()});
    CHECK(first.then(back).is_identity());
    CHECK(back.then(first).is_identity());
    CHECK_THROWS_AS((void)first.then(Permutation::identity(2)), std::invalid_argument);
}

TEST_CASE("a list that is no bijection is no permutation") {
    for (const std::vector<Index>& list : std::vector<std::vector<Index>>{{0, 0}, {1, 2}, {0, -1}, {2, 1, 1}, {1}}) {
        CHECK_THROWS_AS((void)Permutation::from_old_of_new(list), std::invalid_argument);
        CHECK_THROWS_AS((void)Permutation::from_new_of_old(list), std::invalid_argument);
    }
}

TEST_CASE("csr_from_entries sorts, sums in the order of the list, and keeps zeros") {
    const CsrMatrix matrix = csr_from_entries(
        3, 4,
        std::vector<Entry>{{2, 3, 1}, {0, 2, 5}, {2, 0, 7}, {2, 3, 1e16}, {0, 1, 0}, {2, 3, -1e16}, {2, 1, -1}, {2, 1, 1}});
    CHECK(matrix.row_offsets == std::vector<Offset>{0, 2, 2, 5});
    CHECK(matrix.column_indices == std::vector<Index>{1, 2, 0, 1, 3});
    CHECK(matrix.values == std::vector<double>{0, 5, 7, 0, 0});  // (1 + 1e16) - 1e16 = 0 in f64
    CHECK(csr_from_entries(0, 0, {}) == CsrMatrix{});
    CHECK(csr_from_entries(2, 3, {}).row_offsets == std::vector<Offset>{0, 0, 0});
    for (const Entry& outside : std::vector<Entry>{{3, 0, 1}, {-1, 0, 1}, {0, 4, 1}, {0, -1, 1}}) {
        CHECK_THROWS_AS((void)csr_from_entries(3, 4, std::vector<Entry>{outside}), std::out_of_range);
    }
    // A row longer than any special case for short ones, with every column twice.
    std::vector<Entry> entries;
    for (Index i = 0; i < 400; ++i) entries.push_back({0, (i * 73) % 200, 1.0 + i});
    const CsrMatrix dense = csr_from_entries(1, 200, entries);
    CHECK_NOTHROW(check_csr(dense));
    CHECK(same(dense, to_eigen(dense)));
    CHECK(dense.nonzeros() == 200);
    CHECK(dense.values[73] == 2.0 + 202.0);
}

TEST_CASE("transpose and permute, exactly, on a matrix that is not symmetric") {
    // 00 01  .  .        columns of the transpose ascend too
    //  .  . 12  .
    // 20  .  . 23
    const CsrMatrix matrix = placed(3, 4, {{0, 0}, {0, 1}, {1, 2}, {2, 0}, {2, 3}});
    const CsrMatrix transposed = transpose(matrix);
    CHECK(transposed.rows == 4);
    CHECK(transposed.columns == 3);
    CHECK(transposed.row_offsets == std::vector<Offset>{0, 2, 3, 4, 5});
    CHECK(transposed.column_indices == std::vector<Index>{0, 2, 0, 1, 2});
    CHECK(transposed.values == std::vector<double>{0, 20, 1, 12, 23});

    // Row 2 comes first; column 1 comes first, then 3.
    const CsrMatrix moved =
        permute(matrix, Permutation::from_old_of_new({2, 0, 1}), Permutation::from_old_of_new({1, 3, 0, 2}));
    CHECK(moved.row_offsets == std::vector<Offset>{0, 2, 4, 5});
    CHECK(moved.column_indices == std::vector<Index>{1, 2, 0, 2, 3});
    CHECK(moved.values == std::vector<double>{23, 20, 1, 0, 12});

    CHECK_THROWS_AS((void)permute(matrix, Permutation::identity(4), Permutation::identity(4)), std::invalid_argument);
    CHECK_THROWS_AS((void)permute(matrix, Permutation::identity(3), Permutation::identity(3)), std::invalid_argument);
}

TEST_CASE("the battery: sound, transposed and permuted as Eigen does it") {
    for (const NamedMatrix& named : battery()) {
        const CsrMatrix& matrix = named.matrix;
        CAPTURE(named.name);
        CHECK_NOTHROW(check_csr(matrix));
        CHECK(same(transpose(matrix), to_eigen(matrix).transpose()));
        CHECK(transpose(transpose(matrix)) == matrix);

        const Permutation rows = random_permutation(matrix.rows, 1);
        const Permutation columns = random_permutation(matrix.columns, 2);
        const CsrMatrix permuted = permute(matrix, rows, columns);
        CHECK(same(permuted, to_eigen(rows) * to_eigen(matrix) * to_eigen(columns).transpose()));
        const auto inverse = [](const Permutation& order) {
            return Permutation::from_old_of_new({order.new_of_old().begin(), order.new_of_old().end()});
        };
        CHECK(permute(permuted, inverse(rows), inverse(columns)) == matrix);
    }
}

TEST_CASE("check_csr finds every broken promise") {
    const CsrMatrix good = placed(3, 4, {{0, 0}, {0, 1}, {1, 2}, {2, 0}, {2, 3}});
    CHECK_NOTHROW(check_csr(good));
    const auto broken = [&good](const std::function<void(CsrMatrix&)>& breaks) {
        CsrMatrix matrix = good;
        breaks(matrix);
        CHECK_THROWS_AS(check_csr(matrix), std::logic_error);
    };
    broken([](CsrMatrix& m) { m.rows = -1; });
    broken([](CsrMatrix& m) { m.columns = -1; });
    broken([](CsrMatrix& m) { m.rows = 2; });
    broken([](CsrMatrix& m) { m.columns = 3; });
    broken([](CsrMatrix& m) { m.row_offsets.clear(); });
    broken([](CsrMatrix& m) { m.row_offsets.push_back(5); });
    broken([](CsrMatrix& m) { m.row_offsets[0] = 1; });
    broken([](CsrMatrix& m) { m.row_offsets[1] = 4; });
    broken([](CsrMatrix& m) { m.row_offsets[3] = 6; });
    broken([](CsrMatrix& m) { m.row_offsets[2] = 9; });
    broken([](CsrMatrix& m) { m.column_indices.pop_back(); });
    broken([](CsrMatrix& m) { m.values.pop_back(); });
    broken([](CsrMatrix& m) { m.column_indices[0] = -1; });
    broken([](CsrMatrix& m) { m.column_indices[4] = 4; });
    broken([](CsrMatrix& m) { m.column_indices[1] = 0; });
    broken([](CsrMatrix& m) { std::swap(m.column_indices[3], m.column_indices[4]); });
}

TEST_CASE("cuts: which piece a place lies in") {
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

TEST_CASE("a view reads a part, or the whole matrix as one") {
    const StagedMatrix staged = whole_state();
    const PartView outside = staged.part("outside");
    CHECK(outside.row_count() == 3);
    CHECK(outside.entry_count() == 3);
    CHECK(outside.row(0) == 4);
    CHECK(outside.length(0) == 1);
    CHECK(staged.matrix.values[outside.entry(0, 0)] == 41);
    CHECK(staged.matrix.values[outside.entry(2, 0)] == 25);
    CHECK(staged.part("inside").length(5) == 3);
    CHECK(staged.matrix.values[staged.part("inside").entry(5, 2)] == 55);
    CHECK_THROWS_AS((void)staged.part("all"), std::out_of_range);  // it is split

    const StagedMatrix unsplit = stage_input(whole_input());
    const PartView all = unsplit.part("all");
    CHECK(all.row_count() == 6);
    CHECK(all.entry_count() == 12);
    CHECK(all.row(5) == 5);
    CHECK(all.entry(5, 2) == 11);
    CHECK_THROWS_AS((void)unsplit.part("inside"), std::out_of_range);
}

TEST_CASE("orders follow each other, and the matrix stays P A Q^T") {
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

TEST_CASE("an order drops the cuts of the axes that it moves, but for those it keeps, and all parts") {
    const auto kinds_after = [](Acts acts, const std::vector<CutKind>& keeps) {
        StagedMatrix staged = whole_state();
        apply(staged, reorder(acts, random_permutation(6, 1)), keeps);
        CHECK(staged.parts.empty());
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

TEST_CASE("new cuts replace those of their kind") {
    StagedMatrix staged = whole_state();
    StageChange change;
    change.cuts = {{CutKind::row_block, {0, 6}}};
    apply(staged, change, {});
    CHECK(staged.cuts.size() == 3);
    CHECK(staged.find_cuts(CutKind::row_block)->count() == 1);
    CHECK(staged.find_cuts(CutKind::length_group) == nullptr);
    CHECK(staged.find_part("inside") != nullptr);  // cuts alone leave the parts as they are
    for (const std::vector<Index>& boundaries :
         std::vector<std::vector<Index>>{{}, {0}, {0, 5}, {1, 6}, {0, 4, 3, 6}, {0, 7}}) {
        change.cuts = {{CutKind::segment, boundaries}};
        CHECK_THROWS_AS(apply(staged, change, {}), std::logic_error);
    }
}

TEST_CASE("an order of a part moves its storage and nothing else") {
    StagedMatrix staged = whole_state();
    StageChange change;
    change.order = OrderChange{Acts::part, Permutation::from_old_of_new({1, 2, 0}), "outside"};
    apply(staged, change, {});
    CHECK(staged.find_part("outside")->rows == std::vector<Index>{0, 2, 4});
    CHECK(staged.find_part("outside")->entries == std::vector<Offset>{1, 5, 7});
    CHECK(staged.matrix == whole_input());
    CHECK(staged.cuts.size() == 3);
    CHECK_NOTHROW(check_invariants(staged, whole_input()));
    // Rows of different lengths: the fourth row stored, of one entry, goes first.
    change.order = OrderChange{Acts::part, Permutation::from_old_of_new({5, 0, 1, 2, 3, 4}), "inside"};
    apply(staged, change, {});
    CHECK(staged.find_part("inside")->row_offsets == std::vector<Offset>{0, 3, 4, 6, 7, 8, 9});
    CHECK(staged.find_part("inside")->entries == std::vector<Offset>{9, 10, 11, 0, 2, 3, 4, 6, 8});
    CHECK_NOTHROW(check_invariants(staged, whole_input()));

    change.order = OrderChange{Acts::part, Permutation::identity(2), "outside"};
    CHECK_THROWS_AS(apply(staged, change, {}), std::logic_error);
    change.order = OrderChange{Acts::part, Permutation::identity(3), "elsewhere"};
    CHECK_THROWS_AS(apply(staged, change, {}), std::logic_error);
}

TEST_CASE("orders that do not fit are refused") {
    StagedMatrix staged = stage_input(placed(2, 3, {{0, 0}, {1, 2}}));
    CHECK_THROWS_AS(apply(staged, reorder(Acts::symmetric, Permutation::identity(2)), {}), std::logic_error);
    CHECK_THROWS_AS(apply(staged, reorder(Acts::rows, Permutation::identity(3)), {}), std::logic_error);
    CHECK_THROWS_AS(apply(staged, reorder(Acts::columns, Permutation::identity(2)), {}), std::logic_error);
    CHECK_NOTHROW(apply(staged, reorder(Acts::columns, Permutation::identity(3)), {}));
}

TEST_CASE("nodes are kept whole") {
    const CsrMatrix input = placed(6, 6, {{0, 0}, {1, 4}, {2, 2}, {3, 0}, {4, 5}, {5, 1}});
    StagedMatrix staged = stage_input(input, 2);
    CHECK_NOTHROW(apply(staged, reorder(Acts::symmetric, Permutation::from_old_of_new({4, 5, 0, 1, 2, 3})), {}));
    CHECK_NOTHROW(check_invariants(staged, input));
    for (const std::vector<Index>& torn :
         std::vector<std::vector<Index>>{{1, 0, 2, 3, 4, 5}, {0, 2, 1, 3, 4, 5}, {1, 2, 3, 4, 5, 0}}) {
        CHECK_THROWS_AS(apply(staged, reorder(Acts::symmetric, Permutation::from_old_of_new(torn)), {}), std::logic_error);
        CHECK_THROWS_AS(apply(staged, reorder(Acts::rows, Permutation::from_old_of_new(torn)), {}), std::logic_error);
    }
    CHECK_NOTHROW(check_invariants(staged, input));  // a refused change changes nothing
    CHECK_THROWS_AS((void)stage_input(input, 0), std::invalid_argument);
    CHECK_THROWS_AS((void)stage_input(input, 4), std::invalid_argument);
    CHECK_THROWS_AS((void)stage_input(placed(4, 6, {}), 2), std::invalid_argument);
}

TEST_CASE("check_invariants finds every broken promise") {
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
    // A permutation applied the wrong way round.
    broken([](StagedMatrix& s) {
        const Permutation order = Permutation::from_old_of_new({1, 2, 0, 3, 4, 5});
        s.matrix = permute(s.matrix, order, order);
        s.row_order = s.column_order = Permutation::from_new_of_old({1, 2, 0, 3, 4, 5});
        s.parts.clear();
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
        s.parts.clear();
        s.node_size = 2;
    });
    // Parts.
    const auto broken_part = [&broken](const std::function<void(Part&, Part&)>& breaks) {
        broken([&breaks](StagedMatrix& s) { breaks(s.parts[0], s.parts[1]); });
    };
    broken([](StagedMatrix& s) { s.parts.pop_back(); });              // entries in no part
    broken([](StagedMatrix& s) { s.parts.push_back(s.parts[1]); });   // entries in two parts
    broken_part([](Part& inside, Part&) { inside.entries[0] = 1; });  // in two parts, and one in none
    broken_part([](Part& inside, Part&) { inside.rows.pop_back(); });
    broken_part([](Part& inside, Part&) { inside.rows[2] = 6; });
    broken_part([](Part& inside, Part&) { inside.rows[2] = -1; });
    broken_part([](Part& inside, Part&) { inside.rows[2] = 3; });    // listed twice
    broken_part([](Part&, Part& outside) { outside.rows[0] = 5; });  // the entry is of another row
    broken_part([](Part&, Part& outside) { outside.rows[0] = 0; });
    broken_part([](Part& inside, Part&) { inside.entries.pop_back(); });
    broken_part([](Part& inside, Part&) { inside.entries.push_back(7); });
    broken_part([](Part& inside, Part&) { inside.entries[3] = 12; });
    broken_part([](Part& inside, Part&) { inside.entries[3] = -1; });
    broken_part([](Part& inside, Part&) { std::swap(inside.entries[1], inside.entries[2]); });  // descends within a row
    broken_part([](Part& inside, Part&) { inside.row_offsets.clear(); });
    broken_part([](Part& inside, Part&) { inside.row_offsets[0] = 1; });
    broken_part([](Part& inside, Part&) { inside.row_offsets[2] = 0; });
    broken_part([](Part&, Part& outside) { outside.row_offsets[1] = 1000; });  // beyond the entries, then descending
    broken_part([](Part&, Part& outside) { outside.row_offsets[1] = -1; });
}

TEST_CASE("values are compared by their bits: a NaN is itself") {
    CsrMatrix input = placed(2, 2, {{0, 0}, {1, 1}});
    input.values[1] = std::numeric_limits<double>::quiet_NaN();
    CHECK_NOTHROW(check_invariants(stage_input(input), input));
}

TEST_CASE("metrics, by hand") {
    // x . . x .      distances 0 3
    // . . . . .
    // x . x . .                2 0
    // . x . x x                2 0 1
    // . . . . x                0
    const CsrMatrix matrix = placed(5, 5, {{0, 0}, {0, 3}, {2, 0}, {2, 2}, {3, 1}, {3, 3}, {3, 4}, {4, 4}});
    const Metrics metrics = measure(stage_input(matrix));
    CHECK(metrics.rows == 5);
    CHECK(metrics.columns == 5);
    CHECK(metrics.nonzeros == 8);
    CHECK(metrics.bandwidth == 3);
    CHECK(metrics.mean_bandwidth == 1.0);
    CHECK(metrics.profile == 4);
    CHECK(metrics.row_lengths.minimum == 0);
    CHECK(metrics.row_lengths.maximum == 3);
    CHECK(metrics.row_lengths.mean == 1.6);
    CHECK(metrics.row_lengths.standard_deviation == doctest::Approx(std::sqrt(1.04)).epsilon(1e-15));
    CHECK(metrics.sell32_slots == 96);
    CHECK(metrics.sell32_padding == doctest::Approx(88.0 / 96).epsilon(1e-15));
    CHECK(metrics.warp_iterations == 3);
    CHECK(metrics.warp_work == 3 + 0 + 3 + 5 + 1);
    CHECK_FALSE(metrics.partition);
}

TEST_CASE("skew of row lengths, by hand") {
    const auto skew = [](const std::vector<Index>& lengths) {
        std::vector<std::pair<Index, Index>> places;
        for (std::size_t row = 0; row < lengths.size(); ++row) {
            for (Index column = 0; column < lengths[row]; ++column) places.emplace_back(static_cast<Index>(row), column);
        }
        return measure(stage_input(placed(static_cast<Index>(lengths.size()), 9, places))).row_lengths.skew;
    };
    CHECK(skew({1, 1, 1, 5}) == doctest::Approx(2 / std::sqrt(3.0)).epsilon(1e-15));  // distances -1, -1, -1, 3 from 2
    CHECK(skew({5, 5, 5, 1}) == doctest::Approx(-2 / std::sqrt(3.0)).epsilon(1e-15));
    CHECK(skew({1, 3, 5}) == 0);
    CHECK(skew({7, 7, 7}) == 0);
    CHECK(skew({1}) == 0);
}

TEST_CASE("spans and runs, by hand") {
    // . x x . x x x      span 6, runs 3
    // . . . . . . .
    // x . . . . . .           1       1
    // . x x . . . .           2       1
    const CsrMatrix matrix = placed(4, 7, {{0, 1}, {0, 2}, {0, 4}, {0, 5}, {0, 6}, {2, 0}, {3, 1}, {3, 2}});
    const Locality locality = measure_locality(matrix);
    CHECK(locality.row_span.mean == 3);
    CHECK(locality.row_span.maximum == 6);
    CHECK(locality.column_span.mean == doctest::Approx((1 + 4 + 4 + 1 + 1 + 1) / 6.0).epsilon(1e-15));  // column 3 has none
    CHECK(locality.column_span.maximum == 4);
    CHECK(locality.neighbour_runs.count == 4);
    CHECK(locality.neighbour_runs.mean_length == 2);
    CHECK_FALSE(locality.symmetry);
}

TEST_CASE("lines of x, by hand") {
    // Lines of 4, 8 and 16 columns. Rows 0 and 31 are one block, row 32 is another one.
    const CsrMatrix matrix =
        placed(33, 70, {{0, 0}, {0, 3}, {0, 4}, {0, 15}, {31, 1}, {31, 16}, {31, 64}, {31, 69}, {32, 3}, {32, 7}, {32, 69}});
    const auto lines = measure_locality(matrix).x_lines;
    CHECK(lines[0].line_bytes == 32);
    CHECK(lines[0].lines == 6 + 3);  // 0, 1, 3, 4, 16, 17 and 0, 1, 17
    CHECK(lines[1].line_bytes == 64);
    CHECK(lines[1].lines == 4 + 2);  // 0, 1, 2, 8 and 0, 8
    CHECK(lines[2].line_bytes == 128);
    CHECK(lines[2].lines == 3 + 2);  // 0, 1, 4 and 0, 4
    CHECK(lines[0].per_row_block == 4.5);
    CHECK(lines[2].bytes_per_nonzero == doctest::Approx(128 * 5 / 11.0).epsilon(1e-15));
}

TEST_CASE("symmetry, by hand") {
    const auto symmetry = [](const std::vector<Entry>& entries) {
        return measure_locality(csr_from_entries(4, 4, entries)).symmetry.value();
    };
    // Of the pairs one is equal, one is not, one has a NaN twice; one entry stands alone.
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Symmetry mixed =
        symmetry({{0, 0, 9}, {0, 1, 2}, {1, 0, 2}, {0, 2, 3}, {2, 0, -3}, {1, 2, nan}, {2, 1, nan}, {3, 1, 7}, {3, 3, 1}});
    CHECK(mixed.pattern == doctest::Approx(6 / 7.0).epsilon(1e-15));
    CHECK(mixed.values == doctest::Approx(2 / 7.0).epsilon(1e-15));
    CHECK(symmetry({{0, 0, 1}, {2, 2, 5}}).pattern == 1);
    CHECK(symmetry({}).values == 1);
    CHECK(symmetry({{0, 3, 0.0}, {3, 0, -0.0}}).values == 1);
    CHECK(symmetry({{0, 3, 1}, {1, 2, 1}}).pattern == 0);
}

TEST_CASE("locality of the battery, counted in sets") {
    for (const NamedMatrix& named : battery()) {
        const CsrMatrix& matrix = named.matrix;
        CAPTURE(named.name);
        std::map<std::pair<Index, Index>, double> entries;
        std::map<Index, std::pair<Index, Index>> rows;
        std::map<Index, std::pair<Index, Index>> columns;
        std::array<std::set<std::pair<Index, Index>>, 3> lines;
        for (Index row = 0; row < matrix.rows; ++row) {
            for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
                const Index column = matrix.column_indices[i];
                entries[{row, column}] = matrix.values[i];
                rows.try_emplace(row, column, column).first->second.second = column;
                columns.try_emplace(column, row, row).first->second.second = row;
                for (int k = 0; k < 3; ++k) lines[k].emplace(row / 32, column / (4 << k));
            }
        }
        const auto check_span = [](const Span& span, const std::map<Index, std::pair<Index, Index>>& bounds) {
            double sum = 0;
            Index maximum = 0;
            for (const auto& [place, ends] : bounds) {
                sum += ends.second - ends.first + 1;
                maximum = std::max(maximum, ends.second - ends.first + 1);
            }
            CHECK(span.maximum == maximum);
            CHECK(span.mean == doctest::Approx(bounds.empty() ? 0 : sum / static_cast<double>(bounds.size())));
        };
        const Locality locality = measure_locality(matrix);
        check_span(locality.row_span, rows);
        check_span(locality.column_span, columns);
        for (int k = 0; k < 3; ++k) CHECK(locality.x_lines[k].lines == static_cast<Offset>(lines[k].size()));
        Offset runs = 0;
        Offset off_diagonal = 0;
        Offset mirrored = 0;
        Offset equal = 0;
        for (const auto& [place, value] : entries) {
            const auto [row, column] = place;
            runs += entries.contains({row, column - 1}) ? 0 : 1;
            if (row == column) continue;
            ++off_diagonal;
            const auto mirror = entries.find({column, row});
            mirrored += mirror == entries.end() ? 0 : 1;
            equal += mirror == entries.end() || mirror->second != value ? 0 : 1;
        }
        CHECK(locality.neighbour_runs.count == runs);
        CHECK(locality.symmetry.has_value() == matrix.square());
        if (locality.symmetry && off_diagonal > 0) {
            CHECK(locality.symmetry->pattern == doctest::Approx(double(mirrored) / double(off_diagonal)));
            CHECK(locality.symmetry->values == doctest::Approx(double(equal) / double(off_diagonal)));
        }
    }
}

TEST_CASE("metrics of a partition, by hand") {
    // Partitions {0, 1, 2} and {3, 4}. Across: {0, 3} stored once, {1, 3} both ways, {2, 4} once.
    const CsrMatrix matrix = placed(5, 5, {{0, 0}, {0, 3}, {1, 0}, {1, 3}, {3, 1}, {3, 3}, {4, 2}, {4, 4}});
    StagedMatrix staged = stage_input(matrix);
    StageChange change;
    change.cuts = {{CutKind::partition, {0, 3, 5}}};
    apply(staged, change, {});
    const auto partition = measure(staged).partition;
    REQUIRE(partition);
    CHECK(partition->count == 2);
    CHECK(partition->nonzeros_inside == 4);
    CHECK(partition->edge_cut == 3);
    CHECK(partition->row_imbalance == doctest::Approx(3 / 2.5).epsilon(1e-15));
    CHECK(partition->nonzero_imbalance == 1.0);

    change.cuts = {{CutKind::partition, {0, 0, 2, 5}}};  // one is empty
    apply(staged, change, {});
    const auto uneven = measure(staged).partition;
    CHECK(uneven->count == 3);
    CHECK(uneven->row_imbalance == doctest::Approx(3 / (5.0 / 3)).epsilon(1e-15));
    CHECK(uneven->nonzero_imbalance == doctest::Approx(4 / (8.0 / 3)).epsilon(1e-15));
}

TEST_CASE("metrics of nothing are zero") {
    for (const auto& [rows, columns] : std::vector<std::pair<Index, Index>>{{0, 0}, {0, 7}, {7, 0}, {9, 9}}) {
        const Metrics metrics = measure(stage_input(csr_from_entries(rows, columns, {})));
        CHECK(metrics.bandwidth == 0);
        CHECK(metrics.mean_bandwidth == 0);
        CHECK(metrics.profile == 0);
        CHECK(metrics.row_lengths.maximum == 0);
        CHECK(metrics.row_lengths.mean == 0);
        CHECK(metrics.sell32_slots == 0);
        CHECK(metrics.sell32_padding == 0);
        CHECK(metrics.warp_work == 0);
        CHECK(metrics.row_lengths.skew == 0);
        CHECK(metrics.locality.row_span.maximum == 0);
        CHECK(metrics.locality.column_span.mean == 0);
        CHECK(metrics.locality.x_lines[0].lines == 0);
        CHECK(metrics.locality.x_lines[2].bytes_per_nonzero == 0);
        CHECK(metrics.locality.neighbour_runs.mean_length == 0);
    }
}

TEST_CASE("metrics of the battery, counted entry by entry") {
    for (const NamedMatrix& named : battery()) {
        const CsrMatrix& matrix = named.matrix;
        CAPTURE(named.name);
        const Metrics metrics = measure(stage_input(matrix));
        Index bandwidth = 0;
        Offset distances = 0;
        Offset profile = 0;
        Offset slots = 0;
        for (Index row = 0; row < matrix.rows; ++row) {
            Index reach = 0;
            for (const Index column : matrix.row_columns(row)) {
                bandwidth = std::max(bandwidth, std::abs(row - column));
                distances += std::abs(row - column);
                reach = std::max(reach, row - column);
            }
            profile += reach;
        }
        for (Index slice = 0; slice < matrix.rows; slice += 32) {
            Offset width = 0;
            for (Index row = slice; row < std::min(slice + 32, matrix.rows); ++row) {
                width = std::max(width, matrix.row_length(row));
            }
            slots += 32 * width;
        }
        CHECK(metrics.bandwidth == bandwidth);
        CHECK(metrics.mean_bandwidth * static_cast<double>(matrix.nonzeros()) == doctest::Approx(double(distances)));
        CHECK(metrics.profile == profile);
        CHECK(metrics.sell32_slots == slots);
        CHECK(metrics.warp_iterations * 32 == slots);
        CHECK(static_cast<double>(slots) * (1 - metrics.sell32_padding) == doctest::Approx(double(matrix.nonzeros())));
    }
}

TEST_CASE("warp iterations and work, on the row lengths of PELLR, figure 5") {
    std::vector<Offset> lengths{2, 3, 3, 4, 4, 4, 2, 4,  //
                                2, 3, 2, 3, 2, 3, 2, 2,  //
                                2, 2, 7, 3, 3, 3, 3, 3,  //
                                4, 3};
    const auto offsets = [&lengths] {
        std::vector<Offset> result{0};
        for (const Offset length : lengths) result.push_back(result.back() + length);
        return result;
    };
    CHECK(warp_iterations(offsets(), 8) == 18);
    CHECK(warp_iterations(offsets()) == 7);
    CHECK(warp_iterations(offsets(), 1) == 78);
    CHECK(warp_work(offsets()) == 2 * 78 - 26);
    CHECK(sorted_warp_iterations(offsets(), 8) == 15);
    CHECK(sorted_warp_iterations(offsets(), 1) == 78);
    std::sort(lengths.begin(), lengths.end(), std::greater<>());
    CHECK(warp_iterations(offsets(), 8) == 15);
    CHECK(warp_work(offsets()) == 2 * 78 - 26);
    // The paper prints 14 for them: in its list of the sorted lengths, one row of 3 has become one of 2, and with it the
    // longest row of the third warp. So printed, the work would have changed, too.
    CHECK(lengths == std::vector<Offset>{7, 4, 4, 4, 4, 4, 3, 3,  //
                                         3, 3, 3, 3, 3, 3, 3, 3,  //
                                         3, 2, 2, 2, 2, 2, 2, 2,  //
                                         2, 2});
    lengths[16] = 2;
    CHECK(warp_iterations(offsets(), 8) == 14);
    CHECK(warp_work(offsets()) == 2 * 77 - 26);
    // Rows without nonzeros do no work.
    CHECK(warp_work({0, 0, 2, 2, 3}) == 3 + 1);
    CHECK(warp_iterations({0}, 8) == 0);
    CHECK(sorted_warp_iterations({0}, 8) == 0);
    CHECK(sorted_warp_iterations({0, 0, 0}, 8) == 0);
    // Warps wider than any matrix.
    CHECK(warp_iterations({0, 5, 5, 5}, std::numeric_limits<Index>::max()) == 5);
    CHECK(sorted_warp_iterations({0, 5, 5, 5}, std::numeric_limits<Index>::max()) == 5);
}
