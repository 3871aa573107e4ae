// Pictures: exact counts, a monotonic scale of shades, reproducible bytes.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/matrix/battery.hpp"
#include "support/drawn_texts.hpp"
#include "support/split_shares.hpp"
#include "viz/contact_sheet.hpp"
#include "viz/golden_picture.hpp"
#include "viz/image.hpp"
#include "viz/length_strip.hpp"
#include "viz/palette.hpp"
#include "viz/pattern_view.hpp"
#include "viz/placed_rows.hpp"
#include "viz/raster.hpp"
#include "viz/stage_picture.hpp"
#include "viz/text.hpp"

namespace workbench {
namespace {

/// A scattered matrix without random numbers.
CsrMatrix scattered(Index rows, Index columns, Index per_row) {
    std::vector<Entry> entries;
    for (Index row = 0; row < rows; ++row) {
        for (Index k = 0; k < per_row; ++k) {
            const std::int64_t place = (std::int64_t{row} * 7919 + std::int64_t{k} * k * 104729 + k) % columns;
            entries.push_back({row, static_cast<Index>(place), 1.0 + k});
        }
    }
    return csr_from_entries(rows, columns, entries);
}

/// The five-point stencil on a width x width grid.
CsrMatrix grid(Index width) {
    std::vector<Entry> entries;
    for (Index i = 0; i < width * width; ++i) {
        entries.push_back({i, i, 4});
        if (i % width > 0) entries.push_back({i, i - 1, -1});
        if (i % width < width - 1) entries.push_back({i, i + 1, -1});
        if (i >= width) entries.push_back({i, i - width, -1});
        if (i + width < width * width) entries.push_back({i, i + width, -1});
    }
    return csr_from_entries(width * width, width * width, entries);
}

/// Two shares: the entries for which `is_first(row, column)` is true, and all others.
template <typename IsFirst>
std::vector<Share> two_shares(const CsrMatrix& matrix, const IsFirst& is_first) {
    std::vector<Share> shares = split_shares(matrix, 2, [&](Index row, Index column) { return is_first(row, column) ? 0 : 1; });
    shares[0].id = {ShareKind::inside};
    shares[1].id = {ShareKind::outside};
    return shares;
}

StagedMatrix partitioned(CsrMatrix matrix, Index pieces) {
    StagedMatrix staged = stage_input(std::move(matrix));
    Cuts cuts{CutKind::partition, {}};
    for (Index piece = 0; piece <= pieces; ++piece) cuts.boundaries.push_back(staged.matrix.rows * piece / pieces);
    staged.cuts.push_back(cuts);
    const std::vector<Index> piece_of = cuts.pieces();
    staged.shares = two_shares(staged.matrix, [&](Index row, Index column) { return piece_of[row] == piece_of[column]; });
    return staged;
}

StageCaption short_caption() { return {"1  split", "by inside_partition", {{"edge cut", "24", ""}, {"bandwidth", "4", "9"}}}; }

void check_counts(const StagedMatrix& staged, const PatternRaster& raster) {
    const CsrMatrix& matrix = staged.matrix;
    std::vector<bool> in_first(matrix.values.size(), staged.shares.empty());
    if (!staged.shares.empty()) {
        for (const Offset entry : staged.shares[0].entries) in_first[entry] = true;
    }
    std::array<std::vector<Offset>, 2> planes;
    for (auto& plane : planes) plane.resize(static_cast<std::size_t>(raster.row_bins()) * raster.column_bins());
    std::vector<Offset> longest(raster.row_bins());
    for (Index row = 0; row < matrix.rows; ++row) {
        const std::int64_t row_bin = std::int64_t{row} * raster.row_bins() / matrix.rows;
        longest[row_bin] = std::max(longest[row_bin], matrix.row_length(row));
        for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
            const std::int64_t column_bin = std::int64_t{matrix.column_indices[k]} * raster.column_bins() / matrix.columns;
            ++planes[in_first[k] ? 0 : 1][row_bin * raster.column_bins() + column_bin];
        }
    }
    CHECK(raster.planes[0] == planes[0]);
    CHECK(raster.planes[1] == (staged.shares.empty() ? std::vector<Offset>{} : planes[1]));
    CHECK(raster.longest_row == longest);
    for (int bin = 0; bin < raster.row_bins(); ++bin) {
        CHECK(std::int64_t{raster.row_edges[bin]} * raster.row_bins() / matrix.rows == bin);
        CHECK((std::int64_t{raster.row_edges[bin + 1]} - 1) * raster.row_bins() / matrix.rows == bin);
    }
}

}  // namespace

TEST_CASE("rasterise counts every nonzero in its bin") {
    std::vector<NamedMatrix> matrices = battery();
    matrices.push_back({"scattered, tall", scattered(997, 613, 7)});
    matrices.push_back({"scattered, wide", scattered(401, 1009, 5)});
    for (const NamedMatrix& named : matrices) {
        for (const int resolution : {16, 37, picture_resolution}) {
            CAPTURE(named.name);
            CAPTURE(resolution);
            StagedMatrix staged = stage_input(named.matrix);
            check_counts(staged, rasterise(staged, resolution));
            staged.shares = two_shares(staged.matrix, [](Index row, Index column) { return (row + 2 * column) % 3 == 0; });
            check_counts(staged, rasterise(staged, resolution));
        }
    }
}

TEST_CASE("the number of bins is even, proportional and large enough") {
    const auto bins = [](Index rows, Index columns, int resolution) {
        const PatternRaster raster = rasterise(stage_input(csr_from_entries(rows, columns, {})), resolution);
        return std::array{raster.row_bins(), raster.column_bins()};
    };
    CHECK(bins(40, 40, 400) == std::array{40, 40});
    CHECK(bins(400, 400, 400) == std::array{400, 400});
    CHECK(bins(401, 401, 400) == std::array{400, 400});    // two rows per bin would halve the resolution
    CHECK(bins(5874, 5874, 400) == std::array{392, 392});  // 15 rows per bin, 14 in some
    CHECK(bins(100'000, 50'000, 400) == std::array{400, 200});
    CHECK(bins(1000, 400, 99) == std::array{91, 36});  // 36.4
    CHECK(bins(1000, 410, 99) == std::array{91, 37});  // 37.3
    CHECK(bins(1000, 710, 99) == std::array{91, 65});  // 64.6
    CHECK(bins(100'000, 10, 400) == std::array{400, 10});
    CHECK(bins(100'000, 1000, 400) == std::array{400, 25});  // no narrower than a sixteenth
    CHECK(bins(1, 1'000'000, 16) == std::array{1, 16});
    CHECK(bins(0, 5, 16) == std::array{0, 5});
    CHECK(bins(0, 0, 16) == std::array{0, 0});
    CHECK_THROWS_AS((void)rasterise(stage_input({}), 15), std::invalid_argument);
}

TEST_CASE("a caption shows the previous value of figures that changed") {
    const std::vector<PatternRaster> rasters{rasterise(stage_input(grid(5)))};
    const auto picture_of = [&](const std::string& before) {
        return image_of(StagePicture{rasters[0], common_scale(rasters), {"1  order", "", {{"bandwidth", "4", before}}}}).pixels;
    };
    CHECK(picture_of("4") == picture_of(""));
    CHECK(picture_of("9") != picture_of(""));
}

TEST_CASE("the axis of row lengths is logarithmic if the longest row exceeds 30 times the mean") {
    const auto is_logarithmic = [](Offset longest, Offset nonzeros, Offset rows) {
        LengthStrip strip;
        strip.bars = {{1, 1, 0}, {longest, 1, 0}};
        return with_axis(strip, nonzeros, rows).logarithmic;
    };
    CHECK_FALSE(is_logarithmic(60, 200, 100));
    CHECK(is_logarithmic(61, 200, 100));
}

TEST_CASE("a long value in a caption is not cut") {
    const std::vector<PatternRaster> rasters{rasterise(stage_input(grid(5)))};
    const auto picture_of = [&](const std::string& value) {
        return image_of(StagePicture{rasters[0], common_scale(rasters), {"1  order", "", {{"row span mean/max", value, ""}}}})
            .pixels;
    };
    CHECK(picture_of("123,456,789 / 123,456,788") != picture_of("123,456,789 / 123,456,789"));
}

TEST_CASE("rows near 2^31 do not overflow") {
    constexpr Index last = std::numeric_limits<Index>::max() - 1;
    const std::vector<Entry> entries{{0, 0, 1}, {0, last, 1}};
    const StagedMatrix staged{csr_from_entries(1, last + 1, entries), Permutation::identity(1), {}, {}, 1, {}};
    const PatternRaster raster = rasterise(staged);
    CHECK(raster.column_bins() == picture_resolution);
    CHECK(raster.count(0, 0) == 1);
    CHECK(raster.count(0, raster.column_bins() - 1) == 1);
    CHECK(raster.row_bin_total(0, 0) == 2);
}

TEST_CASE("stored rows of the second share are counted in their own order") {
    // Rows 0 to 3 have 1, 2, 3 and 4 entries of the second share and none of the first; row 4 is in the first.
    std::vector<Entry> entries;
    for (Index row = 0; row < 4; ++row) {
        for (Index column = 0; column <= row; ++column) entries.push_back({row, column, 1});
    }
    entries.push_back({4, 4, 1});
    StagedMatrix staged = stage_input(csr_from_entries(5, 5, entries));
    staged.shares = two_shares(staged.matrix, [](Index row, Index) { return row == 4; });
    const PatternRaster raster = rasterise(staged);
    CHECK(raster.plane_names == std::vector<std::string>{"inside", "outside"});
    CHECK(raster.stored_rows == 4);
    CHECK(raster.stored_total == std::vector<Offset>{4, 3, 2, 1});
    CHECK(raster.stored_longest == std::vector<Offset>{4, 3, 2, 1});
    CHECK(raster.stored_originals == std::vector<Index>{3, 2, 1, 0});
}

TEST_CASE("shares beyond the hues of a picture are counted in the name of the last one") {
    StagedMatrix staged = stage_input(grid(3));
    for (const ShareKind kind :
         {ShareKind::inside, ShareKind::outside, ShareKind::first, ShareKind::rest, ShareKind::long_rows}) {
        staged.shares.emplace_back().id = {kind};
    }
    const auto names = [&staged](int most) { return plane_names(staged, most); };
    const std::string first = name_of(staged.shares[0].id);
    const std::string second = name_of(staged.shares[1].id);
    CHECK(names(2) == std::vector<std::string>{first, "4 other shares"});
    CHECK(names(3) == std::vector<std::string>{first, second, "3 other shares"});
    CHECK(names(5).back() == name_of(staged.shares[4].id));
}

TEST_CASE("cuts are rounded to bins, without empty pieces") {
    StagedMatrix staged = stage_input(scattered(1600, 1600, 2));
    staged.cuts = {{CutKind::partition, {0, 0, 400, 800, 800, 1600, 1600}},
                   {CutKind::row_block, {0, 1, 401, 403, 1600}},
                   {CutKind::segment, {0, 1599, 1600}}};
    const PatternRaster raster = rasterise(staged, 400);  // 4 rows per bin
    CHECK(raster.partition == std::vector<int>{100, 200});
    CHECK(raster.row_cuts == std::vector<int>{100, 101});
    CHECK(raster.column_cuts.empty());  // rounded to the end of the axis
}

TEST_CASE("the raster of a small matrix has original numbers and values") {
    StagedMatrix staged = stage_input(csr_from_entries(2, 3, std::vector<Entry>{{0, 2, 5}, {1, 0, -7}}));
    apply(staged, {OrderChange{Acts::rows, Permutation::from_old_of_new({1, 0})}}, {});
    const PatternRaster raster = rasterise(staged);
    CHECK(raster.shows_entries());
    CHECK(raster.original_rows == std::vector<Index>{1, 0});
    CHECK(raster.original_columns == std::vector<Index>{0, 1, 2});
    CHECK(raster.values == std::vector<double>{-7, 0, 0, 0, 0, 5});
    CHECK_FALSE(rasterise(stage_input(scattered(41, 41, 2))).shows_entries());
}

TEST_CASE("denser bins are never lighter, and one nonzero is visible on white") {
    const auto lightness = [](Colour colour) { return 299 * colour.red + 587 * colour.green + 114 * colour.blue; };
    for (const double ceiling : {1.0, 1.5, 7.0, 16.0, 5000.0, 1e9}) {
        const DensityScale scale{ceiling};
        int before = -1;
        for (double density = 0.5; density < 4 * ceiling; density *= 1.1) {
            const int shade = scale.shade(density);
            CHECK(shade >= before);
            CHECK(shade >= DensityScale::lightest);
            CHECK(shade <= DensityScale::darkest);
            before = shade;
        }
        CHECK(scale.shade(ceiling) == scale.shade(100 * ceiling));
    }
    CHECK(DensityScale{16}.shade(1) == DensityScale::lightest);
    CHECK(DensityScale{16}.shade(16) == DensityScale::darkest);
    for (const int plane : {0, 1}) {
        CHECK(lightness(white) - lightness(plane_colour(plane, DensityScale::lightest)) > 60'000);  // of 255'000
        // Channels are integers, so that neighbouring shades of the short orange ramp may have equal lightness.
        for (int shade = 24; shade <= DensityScale::darkest; ++shade) {
            CHECK(lightness(plane_colour(plane, shade)) < lightness(plane_colour(plane, shade - 24)));
        }
    }
}

TEST_CASE("the ceiling is the highest 99th percentile of the stages") {
    // 100 x 100 bins of 16 x 16; one dense bin among 100 with one nonzero each must not determine the ceiling.
    std::vector<Entry> entries;
    for (Index bin = 0; bin < 100; ++bin) entries.push_back({bin * 16, bin * 16, 1});
    for (Index row = 0; row < 16; ++row) {
        for (Index column = 16; column < 32; ++column) entries.push_back({row, column, 1});
    }
    const StagedMatrix staged = stage_input(csr_from_entries(1600, 1600, entries));
    const std::vector<PatternRaster> one{rasterise(staged, 100)};
    CHECK(common_scale(one).ceiling == doctest::Approx(1));

    const StagedMatrix compact = stage_input(csr_from_entries(1600, 1600, std::vector<Entry>{{0, 0, 1}, {0, 1, 1}, {1, 0, 1}}));
    const std::vector<PatternRaster> both{one[0], rasterise(compact, 100)};
    CHECK(common_scale(both).ceiling == doctest::Approx(3));
    const std::vector<PatternRaster> turned{both[1], both[0]};
    CHECK(common_scale(turned).ceiling == doctest::Approx(3));
    CHECK(common_scale(std::span<const PatternRaster>()).ceiling == 1);
}

TEST_CASE("bins of different size with the same share of nonzeros have the same density") {
    std::vector<Entry> entries;
    for (Index row = 0; row < 25; ++row) {
        for (Index column = 0; column < 25; ++column) entries.push_back({row, column, 1});
    }
    const PatternRaster raster = rasterise(stage_input(csr_from_entries(25, 25, entries)), 20);
    REQUIRE(raster.row_bins() == 20);
    for (int bin = 0; bin < 20; ++bin) CHECK(bin_density(raster, bin, 7) == doctest::Approx(25.0 * 25 / 400));
}

TEST_CASE("the hue of a bin depends on its shares") {
    StagedMatrix staged = stage_input(csr_from_entries(2, 2, std::vector<Entry>{{0, 0, 1}, {1, 1, 1}}));
    staged.shares = two_shares(staged.matrix, [](Index row, Index) { return row == 0; });
    const PatternRaster raster = rasterise(staged);
    const DensityScale scale;
    CHECK(bin_colour(raster, scale, 0, 0) == plane_colour(0, DensityScale::middle));
    CHECK(bin_colour(raster, scale, 1, 1) == plane_colour(1, DensityScale::middle));
    CHECK(bin_colour(raster, scale, 0, 1) == white);
}

TEST_CASE("degenerate matrices can be drawn") {
    std::vector<NamedMatrix> matrices = battery();
    matrices.push_back({"no rows", csr_from_entries(0, 7, {})});
    matrices.push_back({"no columns", csr_from_entries(7, 0, {})});
    matrices.push_back({"one row, many columns", scattered(1, 5000, 40)});
    matrices.push_back({"many rows, one column", scattered(5000, 1, 1)});
    std::vector<Image> seen;
    for (const NamedMatrix& named : matrices) {
        CAPTURE(named.name);
        StagedMatrix staged = stage_input(named.matrix);
        std::vector<StageFrame> frames{{rasterise(staged), short_caption()}};
        staged.shares = two_shares(staged.matrix, [](Index row, Index column) { return row == column; });
        frames.push_back({rasterise(staged), {}});
        const std::vector<PatternRaster> rasters{frames[0].raster, frames[1].raster};
        const DensityScale scale = common_scale(rasters);
        CHECK(std::isfinite(scale.ceiling));
        for (const StageFrame& frame : frames) {
            const Image image = image_of(StagePicture{frame.raster, scale, frame.caption});
            CHECK(image.width == 1920);
            CHECK(image.height == 1080);
        }
        CHECK(image_of(ContactSheet{frames, scale, {named.name, ""}}).width >= 1920);
    }
}

TEST_CASE("pictures of any width are 16:9; rasters that are too fine are refused") {
    const PatternRaster raster = rasterise(stage_input(grid(5)));
    StageCaption caption = short_caption();
    for (const int width : {320, 1280, 1920, 3840}) {
        const Image image = image_of(StagePicture{raster, {}, caption, width});
        CHECK(image.width == width);
        CHECK(image.height == width * 9 / 16);
        const Image sheet = image_of(ContactSheet{std::vector<StageFrame>{{raster, caption}}, {}, {}, width});
        CHECK(sheet.width == width);
        CHECK(sheet.height == width * 9 / 16);
    }
    caption.lines.resize(40, {"label", "value", ""});
    CHECK(image_of(StagePicture{raster, {}, caption}).height == 1080);

    const PatternRaster fine = rasterise(stage_input(scattered(900, 900, 1)), 900);
    CHECK_THROWS_AS((void)image_of(StagePicture{fine, {}, caption}), std::invalid_argument);
    CHECK_THROWS_AS((void)image_of(ContactSheet{std::vector<StageFrame>{{fine, {}}}, {}, {}, 960}), std::invalid_argument);
    CHECK_THROWS_AS((void)image_of(ContactSheet{{}, {}, {}}), std::invalid_argument);
}

TEST_CASE("a raster of the resolution for a width fills at least four fifths of the pattern") {
    const StagedMatrix staged = stage_input(scattered(3001, 3001, 3));
    for (const int width : {640, 960, 1280, 1920, 2560, 3840}) {
        CAPTURE(width);
        const PatternRaster raster = rasterise(staged, stage_resolution(width));
        const int side = 800 * width / 1920;
        CHECK(pattern_box(raster, 0, 0, side).width >= side * 4 / 5 - 1);
        (void)image_of(StagePicture{raster, {}, {}, width});
        for (const std::size_t frames : {1, 2, 3, 5, 6, 9}) {
            const StageFrame frame{rasterise(staged, sheet_resolution({frames, 0}, width)), {}};
            (void)image_of(ContactSheet{std::vector<StageFrame>(frames, frame), {}, {}, width});
        }
    }
}

TEST_CASE("planes differ without hue: every blue is darker than every orange, and both are darker than white") {
    const auto lightness = [](Colour colour) { return (299 * colour.red + 587 * colour.green + 114 * colour.blue) / 1000; };
    int lightest_blue = 0;
    int darkest_orange = 255;
    int lightest_orange = 0;
    for (int shade = DensityScale::lightest; shade <= DensityScale::darkest; ++shade) {
        lightest_blue = std::max(lightest_blue, lightness(plane_colour(0, shade)));
        darkest_orange = std::min(darkest_orange, lightness(plane_colour(1, shade)));
        lightest_orange = std::max(lightest_orange, lightness(plane_colour(1, shade)));
    }
    CHECK(darkest_orange - lightest_blue >= 25);
    CHECK(255 - lightest_orange >= 55);
}

TEST_CASE("notes name the lines that a picture leaves out") {
    const auto notes = [](const std::vector<Cuts>& cuts, const Box& box = {0, 0, 400, 400}) {
        StagedMatrix staged = stage_input(scattered(1600, 1600, 2));
        staged.cuts = cuts;
        return pattern_notes(rasterise(staged), box);
    };
    const auto every = [](Index size) {
        Cuts cuts{CutKind::segment, {0}};
        while (cuts.boundaries.back() < 1600) cuts.boundaries.push_back(cuts.boundaries.back() + size);
        return cuts;
    };
    CHECK(notes({every(100)}).empty());
    CHECK(notes({every(8)}) == std::vector<std::string>{"200 segments: too many for lines between them"});
    CHECK(notes({{CutKind::row_block, {0, 1, 2, 3, 1600}}}) ==
          std::vector<std::string>{"4 row blocks: where they are narrow, several share a line"});
    CHECK(notes({{CutKind::partition, {0, 0, 800, 800, 1600}}}).empty());  // empty pieces need no lines
    // Cuts of rows need height, cuts of columns width, partitions both.
    const auto kinds_noted = [&](const Box& box) {
        std::string kinds;
        for (const CutKind kind : {CutKind::row_block, CutKind::segment, CutKind::partition}) {
            kinds += notes({{kind, every(100).boundaries}}, box).empty() ? '-' : 'x';
        }
        return kinds;
    };
    CHECK(kinds_noted({0, 0, 400, 400}) == "---");
    CHECK(kinds_noted({0, 0, 400, 40}) == "x-x");
    CHECK(kinds_noted({0, 0, 40, 400}) == "-xx");
    CHECK(notes({{CutKind::segment, {0, 1600}}}, {0, 0, 3, 3}).empty());  // a single piece needs no lines
}

TEST_CASE("cuts for which there is no room are not drawn") {
    const auto drawn = [](const std::vector<Cuts>& cuts) {
        StagedMatrix staged = stage_input(scattered(1600, 1600, 2));
        staged.cuts = cuts;
        TextCanvas canvas;
        draw_pattern(canvas, {rasterise(staged), {}, {0, 0, 400, 400}, {}});
        return canvas.drawn.size();
    };
    const std::size_t without = drawn({});
    for (const CutKind kind : {CutKind::row_block, CutKind::segment, CutKind::partition}) {
        Cuts narrow{kind, {}};
        for (Index i = 0; i <= 1600; i += 8) narrow.boundaries.push_back(i);
        CHECK(drawn({narrow}) == without);
        CHECK(drawn({{kind, {0, 800, 1600}}}) > without);
    }
}

TEST_CASE("slices of the layout are outlined where rows are drawn in the order in which it stores them") {
    PatternRaster raster = rasterise(stage_input(grid(5)));
    const Box box{0, 0, 400, 400};
    CHECK(row_lengths(raster, 400).slices.empty());
    raster.slice_height = 8;
    CHECK(slice_boundaries(raster) == std::vector<int>{8, 16, 24});
    CHECK(row_lengths(raster, 400).slices == std::vector<int>{0, 8, 16, 24, 25});
    CHECK(row_lengths(raster, 400).padded == std::vector<Offset>{5, 5, 5, 3});
    CHECK(pattern_notes(raster, box) ==
          std::vector<std::string>{"lines: slices of 8 rows, and beside the bars the length to which each is padded"});
    for (const Index one_slice : {25, 26, std::numeric_limits<Index>::max()}) {
        raster.slice_height = one_slice;
        CHECK(slice_boundaries(raster).empty());
        CHECK(row_lengths(raster, 400).slices.empty());
    }
    raster = rasterise(stage_input(scattered(1600, 1600, 2)), 400);  // 4 rows a bin
    raster.slice_height = 40;
    CHECK(slice_boundaries(raster).size() == 39);
    CHECK(row_lengths(raster, 400).padded == std::vector<Offset>(40, 2));
    raster.slice_height = 42;  // slices share bins
    CHECK(slice_boundaries(raster).size() == 38);
    CHECK(row_lengths(raster, 400).padded.empty());
    CHECK(pattern_notes(raster, box) == std::vector<std::string>{"lines: slices of 42 rows"});
    raster.slice_height = 8;  // lines would cover the slices
    CHECK(pattern_notes(raster, box).empty());
    raster = rasterise(partitioned(grid(5), 5));  // split into two shares
    raster.slice_height = 8;
    CHECK(slice_boundaries(raster).empty());
}

TEST_CASE("pictures of one matrix have identical bytes") {
    const auto bytes = [] {
        const std::vector<PatternRaster> rasters{rasterise(partitioned(grid(35), 9))};
        return png_bytes(image_of(StagePicture{rasters[0], common_scale(rasters), short_caption()}));
    };
    CHECK(bytes() == bytes());
}

TEST_CASE("pictures equal the golden ones") {
    SUBCASE("a small matrix, entry by entry") {
        const std::vector<PatternRaster> rasters{rasterise(partitioned(grid(3), 3))};
        check_golden("entries", image_of(StagePicture{rasters[0], common_scale(rasters), short_caption()}));
    }
    SUBCASE("a matrix in bins") {
        const std::vector<PatternRaster> rasters{rasterise(partitioned(grid(50), 8))};
        check_golden("bins", image_of(StagePicture{rasters[0], common_scale(rasters), short_caption()}));
    }
    SUBCASE("a contact sheet") {
        const StagedMatrix last = partitioned(grid(30), 6);
        const StagedMatrix first = stage_input(last.matrix);
        const std::vector<StageFrame> frames{{rasterise(first), {"0  input", "", {{"bandwidth", "30", ""}}}},
                                             {rasterise(last), {"1  split", "", {{"bandwidth", "30", "30"}}}}};
        const std::vector<PatternRaster> rasters{frames[0].raster, frames[1].raster};
        check_golden("sheet", image_of(ContactSheet{frames, common_scale(rasters), {"Two stages", "a grid of 30 × 30"}}));
    }
}

}  // namespace workbench
