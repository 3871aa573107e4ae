// Layout banded_block: its band, its array, and refusals. kernels_test.cpp checks what all layouts have in common.
#include <doctest/doctest.h>

#include <sstream>

#include "core/contract/errors.hpp"
#include "core/matrix/battery.hpp"
#include "kernels/formats/banded_block/layout.hpp"
#include "kernels/host/host_device.hpp"
#include "support/drawn_matrix.hpp"
#include "support/given.hpp"

namespace workbench {
namespace {

std::unique_ptr<Layout<double>> build_banded_block(const CsrMatrix& matrix, std::int64_t height, std::int64_t width,
                                                   double slots_per_nonzero = 1e6) {
    return build(banded_block_entry(), stage_input(matrix),
                 {{"block_height", height}, {"block_width", width}, {"slots_per_nonzero", slots_per_nonzero}});
}

const BandedBlockLayout<double>& banded(const std::unique_ptr<Layout<double>>& layout) {
    return dynamic_cast<const BandedBlockLayout<double>&>(*layout);
}

CsrMatrix tridiagonal(Index size) {
    std::vector<Entry> entries;
    for (Index i = 0; i < size; ++i) {
        for (Index j = std::max(0, i - 1); j < std::min(size, i + 2); ++j) entries.push_back({i, j, 1.0 + 10 * i + j});
    }
    return csr_from_entries(size, size, entries);
}

}  // namespace

TEST_CASE("banded_block: the arrays of the 6 x 6 matrix") {
    const auto layout = build_banded_block(drawn(), 2, 2);
    CHECK(banded(layout).first_block == -2);
    CHECK(banded(layout).blocks_per_row == 5);
    std::vector<double> expected(60, 0);
    const std::vector<std::pair<int, double>> nonzeros{{8, 1},  {10, 2}, {11, 4},  {12, 3},  {13, 5},  {17, 6}, {28, 7},
                                                       {31, 8}, {35, 9}, {40, 10}, {48, 11}, {50, 12}, {51, 13}};
    for (const auto& [slot, value] : nonzeros) expected[slot] = value;
    CHECK(banded(layout).values == expected);
}

TEST_CASE("banded_block: bytes to move exclude slots outside the matrix") {
    for (const NamedMatrix& named : battery()) {
        CAPTURE(named.name);
        for (const auto& [height, width] : {std::pair{2, 3}, std::pair{8, 8}, std::pair{3, 1}}) {
            const auto layout = build_banded_block(named.matrix, height, width);
            std::int64_t inside = 0;
            layout->for_each_slot([&](const Slot& slot) { inside += slot.row >= 0 && slot.column >= 0 ? 1 : 0; });
            CHECK(banded(layout).bytes_of_product() == 8 * (inside + named.matrix.rows + named.matrix.columns));
            const auto kernel = banded_block_entry().kernels.front().prepare.f64(*layout, *make_host_device());
            CHECK(kernel->own_bytes_to_move() == banded(layout).bytes_of_product());
        }
    }
}

TEST_CASE("banded_block: the band is the smallest that contains every nonzero") {
    const auto whole = build_banded_block(tridiagonal(6), 1, 1);
    CHECK(banded(whole).first_block == -1);
    CHECK(banded(whole).values == std::vector<double>{0, 1, 2, 11, 12, 13, 22, 23, 24, 33, 34, 35, 44, 45, 46, 55, 56, 0});
    // Blocks of 2 x 3: block row 1 begins at row 2, whose diagonal block is block column 0.
    const auto rectangular = build_banded_block(tridiagonal(6), 2, 3);
    CHECK(banded(rectangular).first_block == 0);
    CHECK(banded(rectangular).blocks_per_row == 2);
    CHECK(banded(rectangular).first_column(1) == 0);
    CHECK(banded(rectangular).first_column(2) == 3);
    CHECK(banded(rectangular).values == std::vector<double>{1,  11, 2,  12, 0,  13, 0,  0,  0, 0,  0, 0,  //
                                                            0,  0,  22, 0,  23, 33, 24, 34, 0, 35, 0, 0,  //
                                                            44, 0,  45, 55, 46, 56, 0,  0,  0, 0,  0, 0});
    // Nonzeros to the right of the diagonal only: the band begins there.
    const auto upper = build_banded_block(csr_from_entries(8, 8, std::vector<Entry>{{0, 4, 1}, {1, 6, 2}}), 1, 1);
    CHECK(banded(upper).first_block == 4);
    CHECK(banded(upper).blocks_per_row == 2);
    CHECK(build_banded_block(csr_from_entries(8, 8, {}), 3, 2)->fields().back().count == 0);
}

TEST_CASE("banded_block: every block size keeps the contract on the battery, and products are right") {
    const auto device = make_host_device();
    const LayoutEntry entry = banded_block_entry();
    for (const auto& size : {std::pair<Index, Index>{1, 1}, {1, 5}, {5, 1}, {8, 8}, {32, 4}, {3, 7}, {100, 100}}) {
        for (const NamedMatrix& named : battery()) {
            CAPTURE(size.first);
            CAPTURE(size.second);
            CAPTURE(named.name);
            const CsrMatrix& matrix = named.matrix;
            const auto layout = build_banded_block(matrix, size.first, size.second);
            CHECK_NOTHROW(check_layout(*layout, matrix));
            std::vector<double> x(matrix.columns);
            std::vector<double> expected(matrix.rows, 0);
            for (Index i = 0; i < matrix.columns; ++i) x[i] = 1 + i % 13;  // products and sums are exact
            for (Index row = 0; row < matrix.rows; ++row) {
                for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
                    expected[row] += matrix.values[k] * x[matrix.column_indices[k]];
                }
            }
            std::vector<double> y(matrix.rows, -1);
            entry.kernels.front().prepare.f64(*layout, *device)->run(x.data(), y.data(), false);
            CHECK(y == expected);
        }
    }
}

TEST_CASE("banded_block: a wide band is refused with the figures") {
    const std::vector<Entry> entries{{0, 0, 1}, {0, 99, 2}, {99, 0, 3}, {50, 50, 4}};
    const CsrMatrix matrix = csr_from_entries(100, 100, entries);
    CHECK(message_of<Unsuitable>([&] { (void)build_banded_block(matrix, 10, 5, 4); }) ==
          "10 block rows of 38 blocks of 10 x 5 would have 19000 slots for 4 nonzeros: 4750 a nonzero, but at most 4 are "
          "allowed; an "
          "order with a narrower band has fewer (cuthill_mckee), and so have smaller blocks");
}

TEST_CASE("banded_block: the footprint is one array") {
    CHECK(build_banded_block(drawn(), 2, 2)->bytes_to_move() == 60 * 8 + 8 * (6 + 6));
}

}  // namespace workbench
