// Jagged diagonals in groups, and layout jds. What every layout must do is in kernels_test.cpp.
#include <doctest/doctest.h>

#include <set>

#include "kernels/common/multiply_jagged.hpp"
#include "kernels/jds/layout.hpp"
#include "pipeline/contract/errors.hpp"
#include "support/drawings.hpp"

using namespace workbench;

namespace {

/// The drawn matrix with its rows in descending length: 0 1 4 3 2 5.
CsrMatrix sorted_by_length() {
    return permute(drawn(), Permutation::from_old_of_new({0, 1, 4, 3, 2, 5}), Permutation::identity(6));
}

template <ValueType Value>
std::unique_ptr<Layout<Value>> build(const CsrMatrix& matrix) {
    return jds_entry().build.get<Value>()(stage_input(matrix), Parameters());
}

/// What lies left and right of column 3, the rows of each half in descending length.
std::vector<Share> halves() {
    return {{{ShareKind::first}, {0, 1, 2, 4}, {0, 3, 5, 6, 7}, {0, 1, 2, 3, 4, 6, 9}},
            {{ShareKind::rest}, {3, 4, 1, 5}, {0, 2, 4, 5, 6}, {7, 8, 10, 11, 5, 12}}};
}

std::vector<JaggedGroup> groups_of(const std::vector<Share>& shares) {
    return {{.rows = ShareView(shares[0]), .columns = {0, 3}, .share_name = "left"},
            {.rows = ShareView(shares[1]), .columns = {3, 6}, .share_name = "right"}};
}

using Narrow = Jagged<double, std::uint16_t>;

JaggedFrame frame_of(const std::vector<Share>& shares) {
    return {.columns =
                [](Index group) {
                    return ColumnRange{3 * group, 3 * group + 3};
                },
            .row = [&](Index group, Offset place) { return shares[group].rows[place]; }};
}

std::vector<Slot> slots_of(const Narrow& jagged, const JaggedFrame& frame) {
    std::vector<Slot> slots;
    for_each_slot(jagged, frame, [&](const Slot& slot) { slots.push_back(slot); });
    return slots;
}

}  // namespace

TEST_CASE("jagged diagonals in two groups: the arrays") {
    const std::vector<Share> shares = halves();
    const Narrow jagged = build_jagged<double, std::uint16_t>(drawn(), groups_of(shares));
    CHECK(jagged.group_rows == std::vector<Offset>{0, 4, 8});
    CHECK(jagged.group_diagonals == std::vector<Offset>{0, 3, 5});
    CHECK(jagged.diagonal_offsets == std::vector<Offset>{0, 4, 6, 7, 11, 13});
    CHECK(jagged.values == std::vector<double>{1, 4, 7, 10, 2, 5, 3, 8, 11, 6, 13, 9, 12});
    CHECK(jagged.columns == std::vector<std::uint16_t>{0, 1, 2, 0, 1, 2, 2, 0, 1, 1, 2, 2, 2});
}

TEST_CASE("jagged diagonals in two groups: every slot knows its nonzero, row and column") {
    const CsrMatrix matrix = drawn();
    const std::vector<Share> shares = halves();
    const Narrow jagged = build_jagged<double, std::uint16_t>(matrix, groups_of(shares));
    JaggedFrame frame = frame_of(shares);
    std::set<Offset> nonzeros;
    for (const Slot& slot : slots_of(jagged, frame)) {
        CHECK(matrix.values[slot.nonzero] == jagged.values[slot.index]);
        CHECK(matrix.column_indices[slot.nonzero] == slot.column);
        CHECK((matrix.row_offsets[slot.row] <= slot.nonzero && slot.nonzero < matrix.row_offsets[slot.row + 1]));
        nonzeros.insert(slot.nonzero);
    }
    CHECK(nonzeros.size() == 13);

    const Slot first_of_right = slots_of(jagged, frame)[7];
    CHECK((first_of_right.row == 3 && first_of_right.warp == 0 && first_of_right.lane == 4 && first_of_right.step == 0));
    frame.group_alignment = 32;
    frame.first_warp = 10;
    const Slot aligned = slots_of(jagged, frame)[8];
    CHECK((aligned.row == 4 && aligned.warp == 11 && aligned.lane == 1 && aligned.step == 0));
    const Slot last = slots_of(jagged, frame)[12];
    CHECK((last.row == 4 && last.warp == 11 && last.lane == 1 && last.step == 1));
}

TEST_CASE("jagged diagonals: a tampered array is noticed, not followed") {
    const std::vector<Share> shares = halves();
    const JaggedFrame frame = frame_of(shares);
    const Narrow sound = build_jagged<double, std::uint16_t>(drawn(), groups_of(shares));
    CHECK(slots_of(sound, frame).size() == 13);
    const auto refused = [&](const auto& tamper) {
        Narrow jagged = sound;
        tamper(jagged);
        CHECK_THROWS_AS((void)slots_of(jagged, frame), std::logic_error);
    };
    for (const Offset change : {Offset{-1}, Offset{1}, Offset{1} << 40}) {
        for (std::size_t i = 0; i < 3; ++i) refused([&](Narrow& jagged) { jagged.group_diagonals[i] += change; });
        for (std::size_t i = 0; i < 3; ++i) refused([&](Narrow& jagged) { jagged.group_rows[i] += change; });
        for (std::size_t i = 0; i < 6; ++i) refused([&](Narrow& jagged) { jagged.diagonal_offsets[i] += change; });
    }
    for (std::size_t i = 0; i < 13; ++i) refused([&](Narrow& jagged) { jagged.columns[i] = 3; });
    refused([](Narrow& jagged) { jagged.values.pop_back(); });
}

TEST_CASE("jagged diagonals: rows without entries stand at the end, and groups may be empty") {
    const std::vector<Entry> entries{{0, 1, 5}, {0, 2, 6}, {1, 0, 7}};
    const CsrMatrix matrix = csr_from_entries(4, 3, entries);
    const Share empty;
    const std::vector<JaggedGroup> groups{{.rows = ShareView(empty), .columns = {0, 0}},
                                          {.rows = ShareView(matrix), .columns = {0, 3}}};
    const auto jagged = build_jagged<float, Index>(matrix, groups);
    CHECK(jagged.group_rows == std::vector<Offset>{0, 0, 4});
    CHECK(jagged.group_diagonals == std::vector<Offset>{0, 0, 2});
    CHECK(jagged.diagonal_offsets == std::vector<Offset>{0, 2, 3});
    const std::vector<float> x{1, 10, 100};
    std::vector<float> y;
    multiply_jagged(jagged, 1, 0, x.data(), [&](Offset, float sum) { y.push_back(sum); });
    CHECK(y == std::vector<float>{650, 7, 0, 0});
    y.clear();
    multiply_jagged(jagged, 0, 0, x.data(), [&](Offset, float sum) { y.push_back(sum); });
    CHECK(y.empty());
}

TEST_CASE("jagged diagonals: what is refused") {
    SUBCASE("a row longer than the one before it") {
        CHECK(
            message_of<Unsuitable>([] { (void)build<double>(drawn()); }) ==
            "jagged diagonals need rows in descending length, but row 3 has 2 nonzeros and row 2, stored before it, has 1: put "
            "stage row_sort with apply = \"rows\" before");
        std::vector<Share> shares = halves();
        shares[1] = {{ShareKind::rest}, {1, 3}, {0, 1, 3}, {5, 7, 8}};
        CHECK(message_of<Unsuitable>([&] { (void)build_jagged<double, Index>(drawn(), groups_of(shares)); }) ==
              "jagged diagonals need rows in descending length, but row 3 of share 'right' has 2 nonzeros and row 1, stored "
              "before it, has 1: put stage row_sort with share = \"right\" before");
    }
    SUBCASE("an entry outside the columns of its group") {
        const std::vector<Share> shares = halves();
        std::vector<JaggedGroup> groups = groups_of(shares);
        groups[1].columns = {4, 6};
        CHECK_THROWS_AS(((void)build_jagged<double, Index>(drawn(), groups)), std::logic_error);
    }
}

TEST_CASE("jds: the drawing shows what is built") {
    const LayoutEntry entry = jds_entry();
    const auto built = build<double>(sorted_by_length());
    const Jagged<double, Index>& jagged = dynamic_cast<const JdsLayout<double>&>(*built).jagged;
    const auto by_diagonals = [&](const std::string& name, const auto& array) {
        std::ostringstream line;
        line << name;
        for (Offset diagonal = 0; diagonal < jagged.diagonal_count(); ++diagonal) {
            if (diagonal > 0) line << " |";
            for (Offset slot = jagged.diagonal_offsets[diagonal]; slot < jagged.diagonal_offsets[diagonal + 1]; ++slot) {
                line << ' ' << array[slot];
            }
        }
        return line.str();
    };
    CHECK(draws_the_matrix(entry));
    CHECK(draws(entry, list("diagonal_offsets", jagged.diagonal_offsets)));
    CHECK(draws(entry, by_diagonals("values", jagged.values)));
    CHECK(draws(entry, by_diagonals("columns", jagged.columns)));
}

TEST_CASE("jds: the footprint is the nonzeros and an offset a diagonal") {
    CHECK(build<float>(sorted_by_length())->bytes_to_move() == 4 * 8 + 13 * (4 + 4) + 4 * (6 + 6));
    CHECK(build<double>(sorted_by_length())->bytes_to_move() == 4 * 8 + 13 * (4 + 8) + 8 * (6 + 6));
}
