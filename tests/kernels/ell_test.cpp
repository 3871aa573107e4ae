// Layout ell: its arrays in both orders, the lanes that read them, storage of a share, refusals. kernels_test.cpp checks what
// all layouts have in common.
#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <vector>

#include "core/contract/errors.hpp"
#include "kernels/common/schedule/walk.hpp"
#include "kernels/formats/rows/variants.hpp"
#include "kernels/reads.hpp"
#include "support/drawn_matrix.hpp"
#include "support/given.hpp"

namespace workbench {
namespace {

template <ValueType Value = double>
std::unique_ptr<Layout<Value>> build_ell(const CsrMatrix& matrix, const Given& given = {}) {
    return build<Value>(ell_entry(), stage_input(matrix), given);
}

const RowsOfShape<ell_shape, double, HostArray>& ell_slots(const std::unique_ptr<Layout<double>>& layout) {
    return std::get<0>(dynamic_cast<const EllLayout<double>&>(*layout).stored);
}

/// Row 0 is full, the others have one nonzero each.
CsrMatrix arrow(Index size) {
    std::vector<Entry> entries;
    for (Index i = 0; i < size; ++i) entries.push_back({0, i, 1});
    for (Index i = 1; i < size; ++i) entries.push_back({i, i, 1});
    return csr_from_entries(size, size, entries);
}

}  // namespace

TEST_CASE("ell: the arrays of the 6 x 6 matrix") {
    using Values = std::vector<double>;
    using Columns = std::vector<Index>;
    for (const std::string order : {"column_major", "row_major"}) {
        const auto layout = build_ell(drawn(), {{"order", order}});
        const RowsOfShape<ell_shape, double, HostArray>& slots = ell_slots(layout);
        CHECK(slots.width == 3);
        const bool by_columns = order == "column_major";
        CHECK(slots.values == (by_columns ? Values{1, 4, 7, 8, 10, 13, 2, 5, 0, 9, 11, 0, 3, 6, 0, 0, 12, 0}
                                          : Values{1, 2, 3, 4, 5, 6, 7, 0, 0, 8, 9, 0, 10, 11, 12, 13, 0, 0}));
        CHECK(slots.column_indices == (by_columns ? Columns{0, 1, 2, 3, 0, 5, 1, 2, -1, 5, 4, -1, 2, 4, -1, -1, 5, -1}
                                                  : Columns{0, 1, 2, 1, 2, 4, 2, -1, -1, 3, 5, -1, 0, 4, 5, 5, -1, -1}));
        CHECK(layout->bytes_to_move() == 18 * (4 + 8) + 8 * (6 + 6));
    }
}

TEST_CASE("ell: padding has value 0 and no column") {
    const auto layout = build_ell(csr_from_entries(2, 3, std::vector<Entry>{{0, 1, 5}, {1, 0, 6}, {1, 2, 7}}));
    CHECK(ell_slots(layout).column_indices == std::vector<Index>{1, 0, -1, 2});
    CHECK(ell_slots(layout).values == std::vector<double>{5, 6, 0, 7});
    layout->for_each_slot([](const Slot& slot) {
        if (slot.index != 2) return;
        CHECK(slot.nonzero == -1);
        CHECK(slot.column == -1);
        CHECK(slot.row == -1);
    });
}

TEST_CASE("ell: which thread reads which slot") {
    const CsrMatrix matrix = arrow(70);  // 70 slots per row
    SUBCASE("column-major: one thread per row") {
        for_each_read_of<double>(ell_entry(), "rows", *build_ell(matrix, {{"slots_per_nonzero", 70.0}}), [](const Read& read) {
            const Offset row = read.index % 70;
            CHECK(read.warp == row / 32);
            CHECK(read.lane == row % 32);
            CHECK(read.step == read.index / 70);
        });
    }
    SUBCASE("row-major: a warp reads adjacent slots of a long row") {
        const auto layout = build_ell(matrix, {{"order", std::string("row_major")}, {"slots_per_nonzero", 70.0}});
        for_each_read_of<double>(ell_entry(), "reduce", *layout, [](const Read& read) {
            const Offset k = read.index % 70;
            CHECK(read.warp == read.index / 70);
            CHECK(read.lane == k % 32);
            CHECK(read.step == k / 32);
        });
    }
    SUBCASE("row-major: a warp reads several short rows") {
        const auto layout = build_ell(drawn(), {{"order", std::string("row_major")}});
        for_each_read_of<double>(ell_entry(), "reduce", *layout, [](const Read& read) {
            CHECK(read.warp == 0);
            CHECK(read.lane == read.index / 3 * 2 + read.index % 3 % 2);
            CHECK(read.step == read.index % 3 / 2);
        });
    }
    SUBCASE("column-major: the warps of a block share 32 rows") {
        for_each_read_of<double>(ell_entry(), "reduce", *build_ell(matrix, {{"slots_per_nonzero", 70.0}}),
                                 [](const Read& read) {
                                     const Offset row = read.index % 70;
                                     const Offset k = read.index / 70;
                                     CHECK(read.warp == row / 32 * 8 + k % 8);
                                     CHECK(read.lane == row % 32);
                                     CHECK(read.step == k / 8);
                                 });
    }
    SUBCASE("atomic: one thread per slot") {
        for (const std::string order : {"column_major", "row_major"}) {
            const auto layout = build_ell(drawn(), {{"order", order}});
            for_each_read_of<double>(ell_entry(), "atomic", *layout, [](const Read& read) {
                CHECK(read.warp * 32 + read.lane == read.index);
                CHECK(read.step == 0);
            });
        }
    }
}

TEST_CASE("ell: as many warps share a column-major row as suit its slots, at most eight") {
    const std::map<Index, Offset> warps_of_width{{1, 1}, {2, 1}, {3, 2}, {4, 2}, {5, 4}, {8, 4}, {9, 8}, {40, 8}};
    for (const auto& each : warps_of_width) {
        const Index width = each.first;
        const Offset warps = each.second;
        CAPTURE(width);
        std::vector<Entry> entries;
        for (Index k = 0; k < width; ++k) entries.insert(entries.end(), {{0, k, 1}, {1, k, 1}});
        for_each_read_of<double>(ell_entry(), "reduce", *build_ell(csr_from_entries(2, width, entries)), [&](const Read& read) {
            CHECK(read.warp == read.index / 2 % warps);
            CHECK(read.lane == read.index % 2);
            CHECK(read.step == read.index / 2 / warps);
        });
    }
}

TEST_CASE("ell: threads of kernel atomic have numbers of 32 bits if those of the last block, too, fit in them") {
    struct Slots {
        Offset count;
        EllOrder order;
        [[nodiscard]] Offset slot_count() const { return count; }
    };
    constexpr Offset most = UINT32_MAX - Offset{1024};
    const std::map<Offset, std::size_t> bytes_of_count{{18, 4}, {most, 4}, {most + 1, 8}, {2 * most, 8}};
    for (const auto& each : bytes_of_count) {
        for (const EllOrder order : {EllOrder::row_major, EllOrder::column_major}) {
            EllEachSlot::choose(Slots{each.first, order}, [&]<typename Unsigned, EllOrder chosen>(EllSlots<Unsigned, chosen>) {
                CHECK(sizeof(Unsigned) == each.second);
                CHECK(chosen == order);
            });
        }
    }
}

TEST_CASE("ell: rows of a share, in the share's order") {
    const CsrMatrix matrix = drawn();
    // Row 4 without its middle nonzero, then row 1 without its first.
    const Share share{.id = {ShareKind::first}, .rows = {4, 1}, .row_offsets = {0, 2, 4}, .entries = {9, 11, 4, 5}};
    const auto slots = build_ell<double>(matrix, ShareView(share), EllOrder::column_major, 1);
    CHECK(slots.column_indices == std::vector<Index>{0, 2, 5, 4});
    CHECK(slots.values == std::vector<double>{10, 5, 12, 6});
    std::vector<Offset> nonzeros;
    const Origin origin{ShareView(share)};
    for_each_stored_slot<RowLanes<ell_shape, 1>>(slots, nonzeros_of(origin),
                                                 [&](const Slot& slot) { nonzeros.push_back(slot.nonzero); });
    CHECK(nonzeros == std::vector<Offset>{9, 4, 11, 5});
}

TEST_CASE("ell: too much padding is refused with the figures") {
    const CsrMatrix matrix = arrow(100);  // 10,000 slots for 199 nonzeros
    CHECK_NOTHROW((void)build_ell(matrix, {{"slots_per_nonzero", 50.26}}));
    CHECK(message_of<Unsuitable>([&] {
              (void)build_ell(matrix, {{"slots_per_nonzero", 50.0}});
          }) ==
          "100 rows as wide as the longest (100) would have 10000 slots for 199 nonzeros: 50.25 a nonzero, but at most 50 are "
          "allowed; slices (layout sell) pad less, slots_per_nonzero allows more");
    CHECK(message_of<Unsuitable>([&] { (void)build_ell(matrix); }).find("at most 10 are allowed") != std::string::npos);
    const CsrMatrix none = csr_from_entries(5, 5, {});
    CHECK(ell_slots(build_ell(none)).width == 0);
    CHECK(ell_slots(build_ell(none)).slot_count() == 0);
}

TEST_CASE("ell: padding that exceeds memory is refused before it is allocated") {
    const CsrMatrix matrix = arrow(1 << 21);
    const std::string message = message_of<Unsuitable>([&] { (void)build_ell<float>(matrix, {{"slots_per_nonzero", 1e9}}); });
    CHECK(message.find("would have 4398046511104 slots for 4194303 nonzeros: 35184372088832 bytes, but ") != std::string::npos);
}

TEST_CASE("ell: inconsistent arrays are refused") {
    const auto layout = build_ell(drawn());
    std::get<0>(dynamic_cast<EllLayout<double>&>(*layout).stored).column_indices.pop_back();
    CHECK_THROWS_AS(layout->for_each_slot([](const Slot&) {}), std::logic_error);
}

}  // namespace workbench
