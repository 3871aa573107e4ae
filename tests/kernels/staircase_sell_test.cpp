// Staircase SELL: exact arrays, column 0, and comparison with sliced ELL.
#include <doctest/doctest.h>

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/matrix/battery.hpp"
#include "kernels/formats/rows/variants.hpp"
#include "kernels/formats/staircase_sell/layout.hpp"
#include "kernels/host/host_device.hpp"
#include "kernels/reads.hpp"
#include "stages/stages.hpp"
#include "support/drawn_matrix.hpp"
#include "support/given.hpp"
#include "support/layouts/staircase.hpp"

namespace workbench {
namespace {

using Indices = std::vector<Index>;

template <ValueType Value>
std::unique_ptr<Layout<Value>> build_staircase(const LayoutEntry& entry, const StagedMatrix& staged,
                                               std::int64_t slice_height) {
    return build<Value>(entry, staged, {{"slice_height", slice_height}});
}

template <ValueType Value>
const StaircaseSellLayout<Value>& staircase(const std::unique_ptr<Layout<Value>>& layout) {
    return dynamic_cast<const StaircaseSellLayout<Value>&>(*layout);
}

template <ValueType Value>
std::vector<Value> staircase_product(const Layout<Value>& layout, const std::vector<Value>& x) {
    const auto device = make_host_device();
    std::vector<Value> y(layout.rows(), std::numeric_limits<Value>::quiet_NaN());
    staircase_sell_entry().kernels.front().prepare.get<Value>()(layout, *device)->run(x.data(), y.data(), false);
    return y;
}

std::size_t value_slots(const Layout<double>& layout) {
    for (const LayoutField& field : layout.fields()) {
        if (field.role == ArrayRole::value) return field.count;
    }
    return 0;
}

}  // namespace

TEST_CASE("staircase_sell: the arrays of the 6 x 6 matrix") {
    const auto built = build_staircase<double>(staircase_sell_entry(), staircase_of(drawn(), 2, 0), 2);
    const StaircaseSellLayout<double>& layout = staircase(built);
    CHECK(layout.group_rows == Indices{0, 2, 6});
    CHECK(layout.group_slots == std::vector<Offset>{0, 2, 14});
    CHECK(layout.group_widths == Indices{1, 3});
    CHECK(layout.values == std::vector<double>{7, 13, 8, 1, 9, 2, 0, 3, 4, 10, 5, 11, 6, 12});
    CHECK(layout.column_indices == Indices{2, 5, 3, 0, 5, 1, -1, 2, 1, 0, 2, 4, 4, 5});
}

TEST_CASE("staircase_sell: column 0 is a column like any other, and padding is not") {
    // Each entry is in column 0 or is the only other entry of its row, so a kernel that takes column 0 for padding loses most.
    const CsrMatrix matrix = csr_from_entries(4, 4, std::vector<Entry>{{0, 0, 2}, {1, 0, 3}, {2, 0, 5}, {2, 3, 7}, {3, 0, 11}});
    const StagedMatrix staged = staircase_of(matrix, 2, 1);
    const auto built = build_staircase<double>(staircase_sell_entry(), staged, 2);
    const StaircaseSellLayout<double>& layout = staircase(built);
    CHECK(layout.group_widths == Indices{2});  // one group: three rows are padded
    CHECK(layout.column_indices == Indices{0, 0, -1, -1, 0, 0, -1, 3});
    CHECK(staircase_product(layout, {1, 0, 0, 1}) == std::vector<double>{2, 3, 11, 12});
    // Padding reads no x: a value of x that is not finite does not spread.
    const double infinity = std::numeric_limits<double>::infinity();
    const CsrMatrix other = csr_from_entries(3, 3, std::vector<Entry>{{0, 1, 2}, {1, 1, 3}, {1, 2, 5}, {2, 0, 1}});
    const auto padded = build_staircase<double>(staircase_sell_entry(), staircase_of(other, 4, 1), 4);
    CHECK(staircase_product(*padded, {infinity, 1, 1}) == std::vector<double>{2, infinity, 8});
}

TEST_CASE("staircase_sell: groups, slices and the warps that read them") {
    // Lengths 0 0 0 0 1 1 1 1 1 2 2 3 in slices of 4: a group without slots, one slice of length 1, and the rest.
    std::vector<Entry> entries;
    const Indices lengths{0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 3};
    for (Index row = 0; row < 12; ++row) {
        for (Index k = 0; k < lengths[row]; ++k) entries.push_back({row, (row + k) % 9, 1.0 + row});
    }
    const CsrMatrix matrix = csr_from_entries(12, 9, entries);
    const StagedMatrix staged = staircase_of(matrix, 4, 0);
    const auto built = build_staircase<float>(staircase_sell_entry(), staged, 4);
    const StaircaseSellLayout<float>& layout = staircase(built);
    CHECK(layout.group_rows == Indices{0, 4, 8, 12});
    CHECK(layout.group_widths == Indices{0, 1, 3});
    CHECK(layout.group_slots == std::vector<Offset>{0, 0, 4, 16});
    CHECK_NOTHROW(check_layout(*built, staged.matrix));
    for_each_read_of<float>(staircase_sell_entry(), "streams", layout, [&](const Read& read) {
        CHECK(read.warp == (read.index < 4 ? 1 : 2));  // a launch begins with a new warp
        CHECK(read.lane == read.index % 4);
        CHECK(read.step == (read.index < 4 ? 0 : (read.index - 4) / 4));
    });
}

TEST_CASE("staircase_sell: with alpha = 0 the slots are those of sliced ELL in the same order, otherwise at least as many") {
    const LayoutEntry sell = sell_entry();
    for (const NamedMatrix& named : battery()) {
        CAPTURE(named.name);
        for (const Index height : {1, 2, 4, 32}) {
            const StagedMatrix staged = staircase_of(named.matrix, height, 0);
            const std::size_t slots = value_slots(*build_staircase<double>(sell, staged, height));
            CHECK(value_slots(*build_staircase<double>(staircase_sell_entry(), staged, height)) == slots);
            CHECK(value_slots(*build_staircase<double>(staircase_sell_entry(), staircase_of(named.matrix, height, 0.3),
                                                       height)) >= slots);
        }
    }
}

TEST_CASE("staircase_sell: groups of another slice height are padded separately, and products are right") {
    for (const NamedMatrix& named : battery()) {
        CAPTURE(named.name);
        const StagedMatrix staged = staircase_of(named.matrix, 3, 0);
        const auto built = build_staircase<double>(staircase_sell_entry(), staged, 4);
        CHECK_NOTHROW(check_layout(*built, staged.matrix));
        std::vector<double> x(named.matrix.columns);
        for (Index i = 0; i < named.matrix.columns; ++i) x[i] = 1 + i % 5;
        const std::vector<double> y = staircase_product(*built, x);
        for (Index row = 0; row < named.matrix.rows; ++row) {
            double sum = 0;
            for (Offset k = staged.matrix.row_offsets[row]; k < staged.matrix.row_offsets[row + 1]; ++k) {
                sum += staged.matrix.values[k] * x[staged.matrix.column_indices[k]];
            }
            CHECK(y[row] == doctest::Approx(sum));
        }
    }
}

TEST_CASE("staircase_sell: its needs, and padding that exceeds memory") {
    const Needs needs = staircase_sell_entry().needs({});
    CHECK(needs.cuts == std::vector<CutKind>{CutKind::length_group});
    CHECK(needs.unsplit);
    CHECK_FALSE(needs.square);

    constexpr Index size = 1 << 20;
    std::vector<Entry> entries;
    for (Index column = 0; column < size; ++column) entries.push_back({size - 1, column, 1});
    const StagedMatrix staged = staircase_of(csr_from_entries(size, size, entries), 512, 1);
    const std::string message =
        message_of<Unsuitable>([&] { (void)build_staircase<double>(staircase_sell_entry(), staged, 512); });
    CHECK(message.find("1 length group in slices of height 512 would have 1099511627776 slots for 1048576 nonzeros: "
                       "13194139533312 bytes") == 0);
    CHECK(message.find("alpha") != std::string::npos);
}

}  // namespace workbench
