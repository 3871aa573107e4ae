// Layout hyb: its two shares, rows that are in neither, and refusals. kernels_test.cpp checks what all layouts have in
// common.
#include <doctest/doctest.h>

#include "core/contract/errors.hpp"
#include "kernels/common/schemes/slices.hpp"
#include "kernels/formats/hyb/layout.hpp"
#include "kernels/reads.hpp"
#include "stages/stages.hpp"
#include "support/drawn_matrix.hpp"
#include "support/given.hpp"

namespace workbench {
namespace {

StagedMatrix split_after(const CsrMatrix& matrix, std::int64_t k) {
    StagedMatrix staged = stage_input(matrix);
    pass(staged, split_stage(), {{"by", "first_k"}, {"k", k}});
    return staged;
}

std::unique_ptr<Layout<double>> build_hyb(const StagedMatrix& staged, double slots_per_nonzero = 10) {
    return build(hyb_entry(), staged, {{"slots_per_nonzero", slots_per_nonzero}});
}

const HybLayout<double>& hyb(const std::unique_ptr<Layout<double>>& layout) {
    return dynamic_cast<const HybLayout<double>&>(*layout);
}

/// Rows 0 and 4 of 6 have no nonzeros.
CsrMatrix with_empty_rows() {
    const std::vector<Entry> entries{{1, 0, 1}, {1, 2, 2}, {1, 3, 3}, {2, 1, 4}, {3, 0, 5}, {3, 3, 6}, {5, 2, 7}};
    return csr_from_entries(6, 4, entries);
}

}  // namespace

TEST_CASE("hyb: the arrays of the 6 x 6 matrix") {
    const auto built = build_hyb(split_after(drawn(), 2));
    const HybLayout<double>& layout = hyb(built);
    CHECK(layout.first_rows.empty());
    CHECK(layout.first_has_all_rows());
    CHECK(layout.first.values == std::vector<double>{1, 4, 7, 8, 10, 13, 2, 5, 0, 9, 11, 0});
    CHECK(layout.first.column_indices == std::vector<Index>{0, 1, 2, 3, 0, 5, 1, 2, -1, 5, 4, -1});
    CHECK(layout.rest.row_indices == std::vector<Index>{0, 1, 4});
    CHECK(layout.rest.column_indices == std::vector<Index>{2, 4, 5});
    CHECK(layout.rest.values == std::vector<double>{3, 6, 12});
    CHECK(layout.bytes_to_move() == 12 * (4 + 8) + 3 * (4 + 4 + 8) + 8 * (6 + 6));
}

TEST_CASE("hyb: rows without nonzeros are in neither share") {
    const auto built = build_hyb(split_after(with_empty_rows(), 1));
    const HybLayout<double>& layout = hyb(built);
    CHECK(layout.first_rows == std::vector<Index>{1, 2, 3, 5});
    CHECK_FALSE(layout.first_has_all_rows());
    CHECK(layout.first.values == std::vector<double>{1, 4, 5, 7});
    CHECK(layout.first.column_indices == std::vector<Index>{0, 1, 0, 2});
    CHECK(layout.rest.row_indices == std::vector<Index>{1, 1, 3});
    CHECK(layout.rest.values == std::vector<double>{2, 3, 6});
    CHECK(layout.nonzeros() == 7);
}

TEST_CASE("hyb: the list of rows states the order of storage in share first") {
    StagedMatrix staged = split_after(drawn(), 1);
    Share& first = staged.shares[0];
    std::swap(first.rows[0], first.rows[5]);
    std::swap(first.entries[0], first.entries[5]);
    const auto built = build_hyb(staged);
    CHECK(hyb(built).first_rows == std::vector<Index>{5, 1, 2, 3, 4, 0});
    CHECK(hyb(built).first_has_all_rows());
    CHECK_NOTHROW(check_layout(*built, staged.matrix));
}

TEST_CASE("hyb: the warps of the rest follow those of ELL, which have one row per lane") {
    std::vector<Entry> entries;
    for (Index row = 0; row < 40; ++row) {
        for (Index column = 0; column <= row % 3; ++column) entries.push_back({row, column, 1.0});
    }
    const auto built = build_hyb(split_after(csr_from_entries(40, 3, entries), 2));
    const int first_values = array_number(hyb(built).stored(), hyb(built).first.values);
    for_each_read_of<double>(hyb_entry(), "segmented", *built, [&](const Read& read) {
        if (read.array == first_values) {
            CHECK(read.warp * 32 + read.lane == read.index % 40);
            CHECK(read.step == read.index / 40);
        } else {
            CHECK(read.warp == 2);
            CHECK(read.lane == read.index);
        }
    });
}

TEST_CASE("hyb: its needs and refusals") {
    CHECK(hyb_entry().needs({}).shares == std::vector<ShareChoice>{{ShareKind::first}, {ShareKind::rest}});
    StagedMatrix staged = split_after(drawn(), 2);
    staged.shares.push_back(staged.shares[1]);
    staged.shares[1] = {{ShareKind::rest}, {}, {0}, {}};
    staged.shares[2].id = {ShareKind::outside};
    CHECK(message_of<Unsuitable>([&] { (void)build_hyb(staged); }) ==
          "the shares 'first' and 'rest' hold 10 of 13 nonzeros, but HYB stores no other share");

    std::vector<Entry> entries;
    for (Index column = 0; column < 50; ++column) entries.push_back({0, column, 1.0});
    for (Index row = 1; row < 50; ++row) entries.push_back({row, 0, 1.0});
    const CsrMatrix one_long_row = csr_from_entries(50, 50, entries);
    CHECK(message_of<Unsuitable>([&] { (void)build_hyb(split_after(one_long_row, 50)); }).find("2500") != std::string::npos);
    CHECK(message_of<Unsuitable>([&] { (void)build_hyb(split_after(one_long_row, 1)); }) == "nothing was thrown");
}

}  // namespace workbench
