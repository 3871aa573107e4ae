// Layout dia: its arrays, its padding outside the matrix, and refusals. kernels_test.cpp checks what all layouts have in
// common.
#include <doctest/doctest.h>

#include "core/contract/errors.hpp"
#include "kernels/formats/dia/layout.hpp"
#include "kernels/host/host_device.hpp"
#include "kernels/reads.hpp"
#include "support/drawn_matrix.hpp"
#include "support/given.hpp"

namespace workbench {
namespace {

std::unique_ptr<Layout<double>> build_dia(const CsrMatrix& matrix, double slots_per_nonzero = 100) {
    return build(dia_entry(), stage_input(matrix), {{"slots_per_nonzero", slots_per_nonzero}});
}

const DiaLayout<double>& dia(const std::unique_ptr<Layout<double>>& layout) {
    return dynamic_cast<const DiaLayout<double>&>(*layout);
}

}  // namespace

TEST_CASE("dia: the arrays of the 6 x 6 matrix") {
    const auto layout = build_dia(drawn());
    CHECK(dia(layout).offsets == std::vector<Index>{-4, 0, 1, 2, 3});
    CHECK(dia(layout).values ==
          std::vector<double>{0, 0, 0, 0, 10, 0, 1, 4, 7, 8, 11, 13, 2, 5, 0, 0, 12, 0, 3, 0, 0, 9, 0, 0, 0, 6, 0, 0, 0, 0});
}

TEST_CASE("dia: wide and tall matrices") {
    const CsrMatrix wide = csr_from_entries(2, 5, std::vector<Entry>{{0, 4, 1}, {1, 0, 2}, {1, 4, 3}});
    const auto layout = build_dia(wide);
    CHECK(dia(layout).offsets == std::vector<Index>{-1, 3, 4});
    CHECK(dia(layout).values == std::vector<double>{0, 2, 0, 3, 1, 0});
    const auto transposed = build_dia(transpose(wide));
    CHECK(dia(transposed).offsets == std::vector<Index>{-4, -3, 1});
    CHECK(dia(transposed).values == std::vector<double>{0, 0, 0, 0, 1, 0, 0, 0, 0, 3, 2, 0, 0, 0, 0});
}

TEST_CASE("dia: one thread per row reads the slots, and slots outside the matrix read no x") {
    const auto layout = build_dia(drawn());
    layout->for_each_slot([&](const Slot& slot) {
        const Offset column = slot.index % 6 + dia(layout).offsets[slot.index / 6];
        CHECK(slot.column == (column >= 0 && column < 6 ? column : -1));
        CHECK(slot.column_array == -1);
        CHECK((slot.column >= 0 || slot.nonzero == -1));
    });
    int inside = 0;
    for_each_read_of<double>(dia_entry(), "rows", *layout, [&](const Read& read) {
        CHECK(read.index == read.step * 6 + read.row);
        CHECK(read.lane == read.row);
        CHECK(read.column == read.row + dia(layout).offsets[read.step]);
        ++inside;
    });
    CHECK(inside == 2 + 6 + 5 + 4 + 3);
}

TEST_CASE("dia: bytes to move exclude slots outside the matrix") {
    std::vector<Entry> ring;
    for (Index i = 0; i < 10; ++i) {
        for (const Index neighbour : {9, 0, 1}) ring.push_back({i, (i + neighbour) % 10, 1});
    }
    const auto layout = build_dia(csr_from_entries(10, 10, ring));
    CHECK(dia(layout).offsets == std::vector<Index>{-9, -1, 0, 1, 9});
    const auto kernel = dia_entry().kernels.front().prepare.f64(*layout, *make_host_device());
    CHECK(layout->bytes_to_move() == 5 * 4 + 50 * 8 + 20 * 8);
    CHECK(kernel->own_bytes_to_move() == 5 * 4 + (1 + 9 + 10 + 9 + 1) * 8 + 20 * 8);
}

TEST_CASE("dia: mostly padding is refused with the figures") {
    std::vector<Entry> entries;
    for (Index i = 0; i < 100; ++i) entries.push_back({i, i * 7 % 100, 1});
    const CsrMatrix matrix = csr_from_entries(100, 100, entries);
    const auto with = [&](double slots_per_nonzero) {
        return message_of<Unsuitable>([&] { (void)build_dia(matrix, slots_per_nonzero); });
    };
    CHECK(with(70) ==
          "71 diagonals of 100 rows would have 7100 slots for 100 nonzeros: 71 a nonzero, but at most 70 are allowed; an order "
          "with "
          "fewer diagonals has fewer (natural on a grid), and slots_per_nonzero allows more");
    CHECK(with(71) == "nothing was thrown");
}

TEST_CASE("dia: the footprint is one offset per diagonal and one value per row of it") {
    CHECK(build_dia(drawn())->bytes_to_move() == 5 * 4 + 5 * 6 * 8 + 8 * (6 + 6));
}

}  // namespace workbench
