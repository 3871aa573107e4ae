// Jagged diagonals in groups, and layout jds. kernels_test.cpp checks what all layouts have in common.
#include <doctest/doctest.h>

#include "core/contract/errors.hpp"
#include "kernels/formats/rows/variants.hpp"
#include "kernels/host/host_device.hpp"
#include "kernels/reads.hpp"
#include "support/drawn_matrix.hpp"

namespace workbench {
namespace {

/// The drawn matrix with its rows in descending length: 0 1 4 3 2 5.
CsrMatrix sorted_by_length() {
    return permute(drawn(), Permutation::from_old_of_new({0, 1, 4, 3, 2, 5}), Permutation::identity(6));
}

template <ValueType Value>
std::unique_ptr<Layout<Value>> build_jds(const CsrMatrix& matrix) {
    return jds_entry().build.get<Value>()(stage_input(matrix), Parameters());
}

/// The nonzeros left and right of column 3; the rows of each half are in descending length.
Share halves() {
    return {{ShareKind::first},
            {0, 1, 2, 4, 3, 4, 1, 5},
            {0, 3, 5, 6, 7, 9, 11, 12, 13},
            {0, 1, 2, 3, 4, 6, 9, 7, 8, 10, 11, 5, 12}};
}

const JaggedPlan two_groups{{0, 4, 8}, {0, 3, 6}};

}  // namespace

TEST_CASE("jagged diagonals in two groups: the arrays") {
    const Share share = halves();
    const auto jagged = build_jagged<double, std::uint16_t>(drawn(), ShareView(share), two_groups);
    CHECK(two_groups.group_diagonals(ShareView(share)) == std::vector<Offset>{0, 3, 5});
    CHECK(jagged.diagonal_offsets == std::vector<Offset>{0, 4, 6, 7, 11, 13});
    CHECK(jagged.values == std::vector<double>{1, 4, 7, 10, 2, 5, 3, 8, 11, 6, 13, 9, 12});
    CHECK(jagged.column_indices == std::vector<std::uint16_t>{0, 1, 2, 0, 1, 2, 2, 0, 1, 1, 2, 2, 2});
}

TEST_CASE("jagged diagonals: a row ends at the first diagonal that is too short for it") {
    const std::vector<Offset> offsets{0, 4, 6, 7, 11, 13};
    struct {
        const std::vector<Offset>& diagonal_offsets;
    } const jagged{offsets};
    const auto run = [&](Offset place, Offset first, Offset end) {
        return run_on_diagonals(jagged, {.row = 0, .place = place, .first_diagonal = first, .end_diagonal = end});
    };
    CHECK(run(0, 0, 3).count == 3);
    CHECK(run(0, 0, 3).slot(2) == 6);
    CHECK(run(1, 0, 3).count == 2);
    CHECK(run(1, 0, 3).slot(1) == 5);
    CHECK(run(3, 0, 3).count == 1);
    CHECK(run(1, 3, 5).count == 2);
    CHECK(run(1, 3, 5).slot(1) == 12);
    CHECK(run(2, 3, 5).count == 1);
    CHECK(run(4, 3, 5).count == 0);
    CHECK(run(0, 3, 3).count == 0);
}

TEST_CASE("jds: a tampered offset is detected without invalid reads") {
    const auto built = build_jds<double>(sorted_by_length());
    auto& jds = std::get<0>(dynamic_cast<JdsLayout<double>&>(*built).stored);
    const auto walk = [&] { built->for_each_slot([](const Slot&) {}); };
    CHECK_NOTHROW(walk());
    for (const Offset change : {Offset{-1}, Offset{1}, Offset{1} << 40}) {
        for (Offset& offset : jds.diagonal_offsets) {
            offset += change;
            CHECK_THROWS_AS(walk(), std::logic_error);
            offset -= change;
        }
    }
    jds.values.pop_back();
    CHECK_THROWS_AS(walk(), std::logic_error);
}

TEST_CASE("jagged diagonals: empty rows are at the end, and groups may be empty") {
    const std::vector<Entry> entries{{0, 1, 5}, {0, 2, 6}, {1, 0, 7}};
    const CsrMatrix matrix = csr_from_entries(4, 3, entries);
    const JaggedPlan plan{{0, 0, 4}, {0, 0, 3}};
    CHECK(plan.group_diagonals(ShareView(matrix)) == std::vector<Offset>{0, 0, 2});
    CHECK(build_jagged<float, Index>(matrix, ShareView(matrix), plan).diagonal_offsets == std::vector<Offset>{0, 2, 3});
    const auto layout = build_jds<float>(matrix);
    const std::unique_ptr<Device> host = make_host_device();
    const std::vector<float> x{1, 10, 100};
    std::vector<float> y(4, -1);
    jds_entry().kernels.front().prepare.f32(*layout, *host)->run(x.data(), y.data(), false);
    CHECK(y == std::vector<float>{650, 7, 0, 0});
}

TEST_CASE("jagged diagonals: refusals") {
    CHECK(message_of<Unsuitable>([] { (void)build_jds<double>(drawn()); }) ==
          "jagged diagonals need rows in descending length, but row 3 has 2 nonzeros and row 2, stored before it, has 1: put "
          "stage row_sort with apply = \"rows\" before");
    const Share share = halves();
    const auto build_with = [&](const JaggedPlan& plan) { (void)build_jagged<double, Index>(drawn(), ShareView(share), plan); };
    CHECK_NOTHROW(build_with(two_groups));
    CHECK_THROWS_AS(build_with({{0, 4, 8}, {0, 4, 6}}), std::logic_error);  // an entry outside the columns of its group
    CHECK_THROWS_AS(build_with({{0, 5, 8}, {0, 6, 6}}), std::logic_error);  // rows that do not descend
}

TEST_CASE("jds: one thread per row, one diagonal per step") {
    std::vector<Entry> entries;
    for (Index row = 0; row < 70; ++row) {
        for (Index k = 0; k < 3 - row / 30; ++k) entries.push_back({row, (row + 7 * k) % 80, 1});
    }
    const auto layout = build_jds<double>(csr_from_entries(70, 80, entries));
    const auto& offsets = std::get<0>(dynamic_cast<const JdsLayout<double>&>(*layout).stored).diagonal_offsets;
    CHECK(offsets == std::vector<Offset>{0, 70, 130, 160});
    int reads = 0;
    for_each_read_of<double>(jds_entry(), "streaming", *layout, [&](const Read& read) {
        CHECK(read.row == read.warp * 32 + read.lane);
        CHECK(read.index == offsets[read.step] + read.row);
        ++reads;
    });
    CHECK(reads == 160);
}

TEST_CASE("jds: the arrays of the 6 x 6 matrix") {
    const auto built = build_jds<double>(sorted_by_length());
    const auto& jagged = std::get<0>(dynamic_cast<const JdsLayout<double>&>(*built).stored);
    CHECK(jagged.diagonal_offsets == std::vector<Offset>{0, 6, 10, 13});
    CHECK(jagged.values == std::vector<double>{1, 4, 10, 8, 7, 13, 2, 5, 11, 9, 3, 6, 12});
    CHECK(jagged.column_indices == std::vector<Index>{0, 1, 0, 3, 2, 5, 1, 2, 4, 5, 2, 4, 5});
}

TEST_CASE("jds: the footprint is the nonzeros and one offset per diagonal") {
    CHECK(build_jds<float>(sorted_by_length())->bytes_to_move() == 4 * 8 + 13 * (4 + 4) + 4 * (6 + 6));
    CHECK(build_jds<double>(sorted_by_length())->bytes_to_move() == 4 * 8 + 13 * (4 + 8) + 8 * (6 + 6));
}

}  // namespace workbench
