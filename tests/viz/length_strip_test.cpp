// The bars of row lengths beside a pattern, and the slices of a layout on them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "core/matrix/battery.hpp"
#include "support/drawn_texts.hpp"
#include "viz/length_strip.hpp"
#include "viz/raster.hpp"

namespace workbench {
namespace {

/// Four nonzeros in each row, so that the ends of bars are drawn alone.
CsrMatrix even_rows(Index rows) {
    std::vector<Entry> entries;
    for (Index row = 0; row < rows; ++row) {
        for (Index k = 0; k < 4; ++k) entries.push_back({row, (row * 5 + k * 7) % 40, 1});
    }
    return csr_from_entries(rows, 40, entries);
}

constexpr Box place{100, 50, 80, 400};

std::vector<Rectangle> boxes_of(const LengthStrip& strip) {
    TextCanvas canvas;
    draw_strip(canvas, strip, place);
    return canvas.drawn;
}

}  // namespace

TEST_CASE("bars and slices are drawn within their strip") {
    std::vector<NamedMatrix> matrices = battery();
    for (const Index rows : {40, 400, 1600}) matrices.push_back({"even", even_rows(rows)});
    for (const NamedMatrix& one : matrices) {
        CAPTURE(one.name);
        PatternRaster raster = rasterise(stage_input(one.matrix), 400);
        for (const Index slice_height : {0, 8, 32}) {
            raster.slice_height = slice_height;
            for (const Rectangle& box : boxes_of(row_lengths(raster, place.height))) {
                CHECK(box.x >= place.x - 1);
                CHECK(box.x + box.width <= place.right() + 1);
                CHECK(box.y >= place.y - 1);
                CHECK(box.y + box.height <= place.bottom() + 1);
            }
        }
    }
}

TEST_CASE("of rows of about one length, the ends of their bars are drawn in full; no rows have no strip") {
    const LengthStrip strip = row_lengths(rasterise(stage_input(even_rows(100)), 400), place.height);
    CHECK(std::ranges::count(boxes_of(strip), place.width / 16, &Rectangle::width) == std::ssize(strip.bars));
    CHECK(boxes_of(row_lengths(rasterise(stage_input(csr_from_entries(0, 5, {})), 400), place.height)).empty());
}

TEST_CASE("an axis of few long rows is that of log(1 + n), where a row without nonzeros has no bar") {
    std::vector<Entry> entries{{1, 0, 1}};
    for (Index column = 0; column < 400; ++column) entries.push_back({2, column, 1});
    const LengthStrip strip = row_lengths(rasterise(stage_input(csr_from_entries(40, 400, entries)), 400));
    REQUIRE(strip.bars.size() == 40);
    const std::vector<Rectangle> boxes = boxes_of(strip);
    const auto end_of_row = [&](int row) {
        double end = 0;
        for (const Rectangle& box : boxes) {
            if (box.x >= place.x && box.y >= place.y + 10 * row && box.y + box.height <= place.y + 10 * (row + 1)) {
                end = std::max(end, box.x + box.width - place.x);
            }
        }
        return end;
    };
    CHECK(end_of_row(0) == 0);
    CHECK(end_of_row(1) == std::round(place.width * std::log(2.0) / std::log(401.0)));
    CHECK(end_of_row(2) == place.width);

    TextCanvas canvas;
    draw_strip_axis(canvas, strip, place, 10);
    const auto has = [&](const char* text) {
        return std::any_of(canvas.texts.begin(), canvas.texts.end(), [&](const DrawnText& one) { return one.text == text; });
    };
    CHECK(has("0"));
    CHECK(has("400"));
    CHECK(has("log(1 + n)"));
}

TEST_CASE("bars of column lengths are side by side, as high as the lengths") {
    const CsrMatrix matrix =
        csr_from_entries(3, 5, std::vector<Entry>{{0, 0, 1}, {1, 0, 1}, {2, 0, 1}, {0, 1, 1}, {1, 3, 1}, {2, 3, 1}, {2, 4, 1}});
    TextCanvas canvas;
    CHECK(draw_column_lengths(canvas, rasterise(stage_input(matrix), 16), {10, 20, 100, 30}) == 3);
    const std::vector<double> heights{30, 10, 0, 20, 10};
    REQUIRE(canvas.drawn.size() == heights.size() + 1);  // and the axis
    for (std::size_t column = 0; column < heights.size(); ++column) {
        const Rectangle& bar = canvas.drawn[column];
        CHECK(std::vector{bar.x, bar.y, bar.width, bar.height} ==
              std::vector{10 + 20.0 * static_cast<double>(column), 20.0, 20.0, heights[column]});
    }
    const Rectangle& axis = canvas.drawn.back();  // a pixel longer at both ends
    CHECK(std::vector{axis.x, axis.y, axis.width, axis.height} == std::vector{9.0, 20.0, 102.0, 1.0});
    CHECK(draw_column_lengths(canvas, rasterise(stage_input(csr_from_entries(3, 5, {})), 16), {10, 20, 100, 30}) == 0);
}

TEST_CASE("a line across the bars begins each slice but the first, and one ends its padded rows") {
    PatternRaster raster = rasterise(stage_input(even_rows(40)), 400);
    const std::size_t without = boxes_of(row_lengths(raster, place.height)).size();
    raster.slice_height = 16;
    const LengthStrip strip = row_lengths(raster, place.height);
    REQUIRE(strip.slices.size() == 4);
    const std::vector<Rectangle> boxes = boxes_of(strip);
    const auto count = [&](double x, double y, double width, double height) {
        return std::count_if(boxes.begin(), boxes.end(), [&](const Rectangle& box) {
            return box.x == x && box.y == y && box.width == width && box.height == height;
        });
    };
    const std::vector<int> tops{50, 210, 370, 450};
    for (std::size_t slice = 0; slice < 3; ++slice) {
        CAPTURE(slice);
        CHECK(count(place.x, tops[slice], place.width, 1) == (slice == 0 ? 0 : 1));
        CHECK(count(place.right(), tops[slice], 1, tops[slice + 1] - tops[slice]) == 1);  // all rows have the longest length
    }
    CHECK(boxes.size() == without + 2 + 3);
}

TEST_CASE("the padding of slices is that of the rows, where slices consist of whole bins") {
    std::size_t found = 0;
    for (const NamedMatrix& one : battery()) {
        CAPTURE(one.name);
        PatternRaster raster = rasterise(stage_input(one.matrix), 400);
        for (const Index height : {1, 3, 8, 32, 4000}) {
            CAPTURE(height);
            raster.slice_height = height;
            const std::optional<double> padding = padding_of_slices(raster);
            if (one.matrix.rows == 0 || !bins_fit_slices(raster)) {
                CHECK_FALSE(padding.has_value());
                continue;
            }
            Offset slots = 0;
            for (Index first = 0; first < one.matrix.rows; first += height) {
                Offset longest = 0;
                for (Index row = first; row < std::min(one.matrix.rows, first + height); ++row) {
                    longest = std::max(longest, one.matrix.row_length(row));
                }
                slots += longest * height;
            }
            REQUIRE(padding.has_value());
            CHECK(*padding * static_cast<double>(slots) == doctest::Approx(static_cast<double>(slots - one.matrix.nonzeros())));
            ++found;
        }
    }
    CHECK(found > 20);
    PatternRaster none = rasterise(stage_input(even_rows(40)), 400);
    CHECK_FALSE(padding_of_slices(none).has_value());
}

}  // namespace workbench
