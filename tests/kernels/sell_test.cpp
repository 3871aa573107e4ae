// Sliced ELL: which thread reads which slot, and what is refused.
#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <string>

#include "kernels/sell/layout.hpp"
#include "support/battery.hpp"

using namespace workbench;

namespace {

std::unique_ptr<Layout<double>> build(const CsrMatrix& matrix, std::int64_t slice_height, std::int64_t threads_per_row) {
    const LayoutEntry entry = sell_entry();
    const std::map<std::string, ParameterValue> given{{"slice_height", slice_height}, {"threads_per_row", threads_per_row}};
    return entry.build.f64(stage_input(matrix), Parameters(entry.parameters, given));
}

}  // namespace

TEST_CASE("sell: with several threads a row, a warp reads neighbouring slots of its slice") {
    for (const NamedMatrix& named : battery()) {
        CAPTURE(named.name);
        for (const int threads : {1, 2, 4, 8, 16, 32}) {
            const int rows = 32 / threads;
            const auto layout = build(named.matrix, rows, threads);
            const auto& offsets = dynamic_cast<const SellLayout<double>&>(*layout).slices.slice_offsets;
            layout->for_each_slot([&](const Slot& slot) {
                CHECK(slot.index == offsets[slot.warp] + slot.step * 32 + slot.lane);
                CHECK((slot.row == -1 || slot.row == slot.warp * rows + slot.lane % rows));
            });
        }
    }
}

TEST_CASE("sell: threads share a row whatever the slice height") {
    // Row 0 of 5 entries, row 1 of 2, in a slice of 3 rows with 4 threads a row: 8 rows are a warp's.
    std::vector<Entry> entries{{1, 1, 6}, {1, 4, 7}};
    for (Index column = 0; column < 5; ++column) entries.push_back({0, column, 1.0 + column});
    const auto layout = build(csr_from_entries(2, 5, entries), 3, 4);
    std::string text;
    layout->for_each_slot([&](const Slot& slot) {
        if (slot.nonzero >= 0) {
            text += std::to_string(slot.nonzero) + ":" + std::to_string(slot.lane) + "/" + std::to_string(slot.step) + " ";
        }
    });
    CHECK(text == "0:0/0 5:1/0 1:8/0 6:9/0 2:16/0 3:24/0 4:0/1 ");
}

TEST_CASE("sell: threads a row that are no power of two are refused") {
    const LayoutEntry entry = sell_entry();
    for (const std::int64_t threads : {3, 6, 31}) {
        CHECK_THROWS_AS((void)entry.needs(Parameters(entry.parameters, {{"threads_per_row", threads}})), ParameterError);
    }
    CHECK(entry.needs(Parameters(entry.parameters, {{"threads_per_row", std::int64_t{32}}})).unsplit);
}
