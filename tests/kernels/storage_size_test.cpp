// Sizes of formats: computed by hand, printed in the source, and stored by the layouts.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/matrix/battery.hpp"
#include "kernels/common/storage/literature_sizes.hpp"
#include "kernels/formats/blocks/layout.hpp"
#include "kernels/formats/coo/layout.hpp"
#include "kernels/formats/csc/layout.hpp"
#include "kernels/formats/csr/layout.hpp"
#include "kernels/formats/rows/variants.hpp"
#include "kernels/formats/staircase_sell/layout.hpp"
#include "kernels/formats/staircase_sell/length_groups.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "stages/stages.hpp"
#include "support/drawn_matrix.hpp"
#include "support/given.hpp"
#include "support/layouts/staircase.hpp"

namespace workbench {
namespace {

std::int64_t real_size(const LayoutEntry& entry, const StagedMatrix& staged, const Given& given = {}) {
    return build(entry, staged, given)->array_bytes();
}

}  // namespace

TEST_CASE("storage sizes, by hand") {
    // The rows of the drawn matrix have the lengths 3 3 1 2 3 1.
    const ElementSizes f64;
    CHECK(coo_size(13, f64) == 13 * (4 + 4 + 8));
    CHECK(csr_size(6, 13, f64) == 7 * 4 + 13 * (4 + 8));
    CHECK(bsr_size(7, 5, 2, f64) == 5 * (4 * 8 + 4) + 5 * 4);  // 7 rows are 4 rows of blocks
    CHECK(ell_size(6, 3, f64) == 6 * 3 * (4 + 8));
    CHECK(sell_size(3, 16, f64) == 4 * 4 + 16 * (4 + 8));
    CHECK(staircase_sell_size(14, f64) == 14 * (4 + 8));
    CHECK(coo_size(13, {.value = 4}) == 13 * 12);
    constexpr Index most = std::numeric_limits<Index>::max();
    CHECK(ell_size(most, most, f64) == std::numeric_limits<std::int64_t>::max());
    CHECK(count_blocks(drawn(), 2) == 7);
    CHECK(count_blocks(drawn(), 4) == 4);
    CHECK(sell_slots(row_lengths(drawn()), 2) == 16);
    CHECK(sell_slots(row_lengths(drawn()), 4) == 24);
}

TEST_CASE("storage sizes, as table 5.2 of the source prints them") {
    // The printed sizes determine slice heights and slots: "Size SC" is 12 bytes a slot; "Size SELL" adds a pointer of 4 bytes
    // for each slice. Both are integer numbers of slices times widths.
    struct Row {
        Index rows;
        Index height_sc;
        Index height_sell;
        std::int64_t size_sc;
        std::int64_t size_sell;
        Offset columns_sc;  // the sum of the widths of all slices
        Offset columns_sell;
    };
    const std::vector<Row> table{{102400, 672, 32, 11088000, 11042048, 1375, 28722},
                                 {1228045, 512, 928, 103084032, 103091248, 16778, 9257},
                                 {2380515, 448, 608, 318286080, 318296368, 59205, 43624},
                                 {204316, 480, 64, 34225920, 34182628, 5942, 44492}};
    const ElementSizes f64;
    for (const Row& row : table) {
        CAPTURE(row.rows);
        CHECK(staircase_sell_size(row.columns_sc * row.height_sc, f64) == row.size_sc);
        const Offset slices = (row.rows + row.height_sell - 1) / row.height_sell;
        CHECK(sell_size(slices, row.columns_sell * row.height_sell, f64) == row.size_sell + 4);  // eq. 4.5: s + 1 pointers
    }
}

TEST_CASE("storage sizes are those of the layouts") {
    const ElementSizes ours{.offset = 8};  // our offsets have 64 bits
    for (const NamedMatrix& named : battery()) {
        CAPTURE(named.name);
        const CsrMatrix& matrix = named.matrix;
        const StagedMatrix natural = stage_input(matrix);
        CHECK(real_size(coo_entry(), natural) == coo_size(matrix.nonzeros(), ours));
        CHECK(real_size(csr_entry(), natural) == csr_size(matrix.rows, matrix.nonzeros(), ours));
        CHECK(real_size(csc_entry(), natural) == csr_size(matrix.columns, matrix.nonzeros(), ours));
        const std::vector<Offset> lengths = row_lengths(matrix);
        const Offset longest = lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
        CHECK(real_size(ell_entry(), natural, {{"slots_per_nonzero", 1e6}}) == ell_size(matrix.rows, longest, ours));
        for (const Index size : {2, 3, 4}) {
            const Given given{{"block_size", std::int64_t{size}}, {"slots_per_nonzero", 1e6}};
            CHECK(real_size(bsr_entry(), natural, given) == bsr_size(matrix.rows, count_blocks(matrix, size), size, {}));
        }
        for (const std::int64_t height : {1, 3, 32}) {
            const auto slice_height = static_cast<Index>(height);
            const Offset slices = (Offset{matrix.rows} + slice_height - 1) / slice_height;
            const Given given{{"slice_height", height}};
            CHECK(real_size(sell_entry(), natural, given) == sell_size(slices, sell_slots(lengths, slice_height), ours));

            std::vector<Offset> ascending = lengths;
            std::sort(ascending.begin(), ascending.end());
            const std::vector<Index> groups = length_groups(ascending, slice_height, 0.2);
            // The layout also has row_ptr, step_ptr and step_lengths, which stay on the host.
            const auto group_count = static_cast<std::int64_t>(groups.size()) - 1;
            const std::int64_t on_host = 4 * (group_count + 1) + 8 * (group_count + 1) + 4 * group_count;
            CHECK(real_size(staircase_sell_entry(), staircase_of(matrix, height, 0.2), given) ==
                  staircase_sell_size(staircase_sell_slots(ascending, groups, slice_height), ours) + on_host);
        }
    }
}

TEST_CASE("storage sizes of all formats of a matrix") {
    const std::vector<Index> heights{2};
    const std::vector<double> alphas{0, 1};
    std::string text;
    for (const StorageSize& size : storage_sizes(catalogue(), drawn(), heights, alphas, {})) {
        text += size.format + " " + std::to_string(size.height) + (size.alpha ? " a" + std::to_string(*size.alpha) : "") +
                ": " + std::to_string(size.slots) + " " + std::to_string(size.bytes) + "\n";
    }
    CHECK(text ==
          "COO 0: 13 208\n"
          "CSR 0: 13 184\n"
          "CSC 0: 13 184\n"
          "BSR 2: 28 268\n"
          "BSR 3: 36 316\n"
          "BSR 4: 64 540\n"
          "ELL 0: 18 216\n"
          "SELL 2: 16 208\n"
          "SELL by length 2: 14 184\n"
          "Staircase SELL 2 a0.000000: 14 168\n"
          "Staircase SELL 2 a1.000000: 18 216\n");
    // A matrix of 2 rows and 9 columns has offsets of 2 + 1 rows, or of 9 + 1 columns.
    for (const StorageSize& size :
         storage_sizes(catalogue(), csr_from_entries(2, 9, std::vector<Entry>{{0, 8, 1}}), heights, alphas, {})) {
        if (size.format == "CSR") CHECK(size.bytes == 3 * 4 + 12);
        if (size.format == "CSC") CHECK(size.bytes == 10 * 4 + 12);
    }
}

}  // namespace workbench
