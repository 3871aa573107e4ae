// Layouts biell and bijad: exact arrays, parameters, refusals. kernels_test.cpp checks what all layouts have in common.
#include <doctest/doctest.h>

#include "core/contract/errors.hpp"
#include "kernels/common/schemes/slices.hpp"
#include "kernels/formats/biell/layout.hpp"
#include "kernels/reads.hpp"
#include "support/drawn_matrix.hpp"
#include "support/given.hpp"

namespace workbench {
namespace {

CsrMatrix drawn_with_rows(std::vector<Index> old_of_new) {
    return permute(drawn(), Permutation::from_old_of_new(std::move(old_of_new)), Permutation::identity(6));
}

/// Sorted by length within strips of four, and in the whole matrix.
CsrMatrix strips_sorted() { return drawn_with_rows({0, 1, 3, 2, 4, 5}); }
CsrMatrix all_sorted() { return drawn_with_rows({0, 1, 4, 3, 2, 5}); }

BiellLayout<double>* build_biell(const LayoutEntry& entry, const CsrMatrix& matrix, std::int64_t height,
                                 std::unique_ptr<Layout<double>>& owner) {
    owner = build(entry, stage_input(matrix), {{"strip_height", height}});
    return &dynamic_cast<BiellLayout<double>&>(*owner);
}

/// Rows of these lengths, packed to the left.
CsrMatrix rows_of_lengths(const std::vector<Index>& lengths) {
    std::vector<Entry> entries;
    for (Index row = 0; row < static_cast<Index>(lengths.size()); ++row) {
        for (Index column = 0; column < lengths[row]; ++column) entries.push_back({row, column, 1.0 + row});
    }
    return csr_from_entries(static_cast<Index>(lengths.size()), 1000, entries);
}

std::vector<Offset> widths(const LayoutEntry& entry, const CsrMatrix& matrix, std::int64_t height) {
    std::unique_ptr<Layout<double>> owner;
    const BiellLayout<double>& layout = *build_biell(entry, matrix, height, owner);
    std::vector<Offset> all;
    for (Offset group = 0; group + 1 < static_cast<Offset>(layout.group_offsets.size()); ++group) {
        all.push_back(layout.width(group));
    }
    return all;
}

}  // namespace

TEST_CASE("biell, bijad: the arrays of the 6 x 6 matrix") {
    std::unique_ptr<Layout<double>> owner;
    const BiellLayout<double>& strips = *build_biell(biell_entry(), strips_sorted(), 4, owner);
    CHECK(strips.group_offsets == std::vector<Offset>{0, 8, 12, 12, 12, 16, 20});
    CHECK(strips.values == std::vector<double>{1, 4, 8, 7, 2, 5, 9, 0, 3, 6, 0, 0, 10, 13, 11, 0, 12, 0, 0, 0});
    CHECK(strips.column_indices == std::vector<Index>{0, 1, 3, 2, 1, 2, 5, 2, 2, 4, 2, 4, 0, 5, 4, 5, 5, 5, 5, 5});
    const BiellLayout<double>& jagged = *build_biell(bijad_entry(), all_sorted(), 4, owner);
    CHECK(jagged.group_offsets == std::vector<Offset>{0, 12, 12, 12, 12, 16, 16});
    CHECK(jagged.values == std::vector<double>{1, 4, 10, 8, 2, 5, 11, 9, 3, 6, 12, 0, 7, 13, 0, 0});
    CHECK(jagged.column_indices == std::vector<Index>{0, 1, 0, 3, 1, 2, 4, 5, 2, 4, 5, 5, 2, 5, 2, 5});
}

TEST_CASE("biell: the arrays of the drawn matrix") {
    std::unique_ptr<Layout<double>> owner;
    const BiellLayout<double>& layout = *build_biell(biell_entry(), strips_sorted(), 4, owner);
    CHECK(layout.group_offsets == std::vector<Offset>{0, 8, 12, 12, 12, 16, 20});
    CHECK(layout.values == std::vector<double>{1, 4, 8, 7, 2, 5, 9, 0, 3, 6, 0, 0, 10, 13, 11, 0, 12, 0, 0, 0});
    CHECK(layout.column_indices == std::vector<Index>{0, 1, 3, 2, 1, 2, 5, 2, 2, 4, 2, 4, 0, 5, 4, 5, 5, 5, 5, 5});
    CHECK(layout.bytes_to_move() == 7 * 8 + 20 * (4 + 8) + 8 * (6 + 6));
}

TEST_CASE("biell: a group is as wide as its longest row that no later group continues") {
    CHECK(widths(biell_entry(), rows_of_lengths({8, 8, 8, 8}), 4) == std::vector<Offset>{8, 0, 0});
    CHECK(widths(biell_entry(), rows_of_lengths({9, 3, 2, 1}), 4) == std::vector<Offset>{2, 1, 2});
    CHECK(widths(biell_entry(), rows_of_lengths({100, 0, 0, 0}), 4) == std::vector<Offset>{0, 0, 25});
    CHECK(widths(biell_entry(), rows_of_lengths({7, 6, 0, 0}), 4) == std::vector<Offset>{0, 3, 1});
    CHECK(widths(biell_entry(), rows_of_lengths({7, 6}), 2) == std::vector<Offset>{6, 1});
    // In a strip of 32 rows the pivots are rows 16, 8, 4, 2, 1 and 0.
    std::vector<Index> lengths(32, 1);
    lengths[0] = 900;
    lengths[1] = 100;
    lengths[2] = lengths[3] = 20;
    lengths[4] = lengths[5] = lengths[6] = lengths[7] = 5;
    CHECK(widths(biell_entry(), rows_of_lengths(lengths), 32) == std::vector<Offset>{1, 0, 1, 2, 5, 25});
}

TEST_CASE("biell: the lanes of a warp read adjacent slots, beginning with the last group") {
    std::vector<Index> lengths(70, 2);
    for (const Index long_row : {0, 32, 33, 64}) lengths[long_row] = 50;
    std::unique_ptr<Layout<double>> owner;
    const BiellLayout<double>& layout = *build_biell(biell_entry(), rows_of_lengths(lengths), 32, owner);
    CHECK(layout.group_count() == 6);
    CHECK(layout.strip_count() == 3);
    for_each_read_of<double>(biell_entry(), "strips", layout, [&](const Read& read) {
        const Offset first = layout.group_offsets[read.warp * 6];
        const Offset end = layout.group_offsets[read.warp * 6 + 6];
        CHECK(read.index % 32 == read.lane);
        CHECK((first <= read.index && read.index < end));
        if (read.row >= 0) CHECK(read.row / 32 == read.warp);
        const bool in_last_group = read.index >= layout.group_offsets[read.warp * 6 + 5];
        CHECK(in_last_group == (read.step < layout.width(read.warp * 6 + 5)));
    });
}

TEST_CASE("biell, bijad: refusals") {
    const auto refusal = [](const LayoutEntry& entry, const CsrMatrix& matrix, std::int64_t height) {
        return message_of<Unsuitable>([&] {
            std::unique_ptr<Layout<double>> owner;
            (void)build_biell(entry, matrix, height, owner);
        });
    };
    CHECK(refusal(biell_entry(), drawn(), 4) ==
          "BiELL needs the rows of each strip of 4 in descending length, but row 3 has 2 nonzeros and row 2, stored before it, "
          "has "
          "1: put stage row_sort with within = \"window\", window = 4 and apply = \"rows\" before");
    CHECK(refusal(biell_entry(), strips_sorted(), 4) == "nothing was thrown");
    CHECK(refusal(bijad_entry(), strips_sorted(), 4) ==
          "BiJAD needs all rows in descending length, but row 4 has 3 nonzeros and row 3, stored before it, has 1: put stage "
          "row_sort with apply = \"rows\" before");
    CHECK(refusal(bijad_entry(), all_sorted(), 4) == "nothing was thrown");

    const LayoutEntry entry = biell_entry();
    const auto needs = [&](std::int64_t height) {
        return entry.needs(Parameters(entry.parameters, {{"strip_height", height}}));
    };
    CHECK(needs(16).unsplit);
    CHECK(message_of<ParameterError>([&] { (void)needs(24); }) ==
          "a strip of 24 rows cannot be halved down to one: expected a power of two");
}

}  // namespace workbench
