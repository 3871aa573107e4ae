// The packed data of a page against the pattern, and the file around it.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "core/matrix/battery.hpp"
#include "core/matrix/random.hpp"
#include "support/page_sections.hpp"
#include "support/split_shares.hpp"
#include "viz/packed_pattern.hpp"
#include "viz/page_file.hpp"

namespace workbench {
namespace {

/// Splits entries in even columns from the others.
StagedMatrix split_by_column(const CsrMatrix& matrix) {
    StagedMatrix staged = stage_input(matrix);
    staged.shares = split_shares(matrix, 2, [](Index, Index column) { return column % 2; });
    staged.shares[0].id.kind = ShareKind::near;
    staged.shares[1].id.kind = ShareKind::far;
    return staged;
}

/// Reads numbers of seven bits a byte.
struct Reader {
    const std::string& bytes;
    std::size_t at = 0;

    std::uint64_t number() {
        std::uint64_t value = 0;
        for (int shift = 0;; shift += 7) {
            const auto byte = static_cast<std::uint8_t>(bytes.at(at++));
            value |= std::uint64_t{byte & 127U} << shift;
            if (byte < 128) return value;
        }
    }
    std::int64_t difference() {
        const std::uint64_t twice = number();
        return twice % 2 == 0 ? static_cast<std::int64_t>(twice / 2) : -static_cast<std::int64_t>((twice + 1) / 2);
    }
};

}  // namespace

TEST_CASE("packed bins can be unpacked") {
    for (const NamedMatrix& one : battery()) {
        CAPTURE(one.name);
        for (const int bits : {0, 2}) {
            const PyramidLevel bins = count_bins(split_by_column(one.matrix), bits, bits);
            const PackedLevel small = packed(bins);
            Reader reader{small.bytes};
            PyramidLevel read = bins;
            read.row_offsets = {0};
            read.bin_columns.clear();
            read.counts.clear();
            for (Index row = 0; row < bins.row_bins(); ++row) {
                const std::uint64_t count = reader.number();
                Index next = 0;
                for (std::uint64_t i = 0; i < count; ++i) {
                    read.bin_columns.push_back(next + static_cast<Index>(reader.number()));
                    next = read.bin_columns.back() + 1;
                    std::array<Offset, 2> counts{};
                    if (small.one_each) {
                        counts.at(reader.number()) = 1;
                    } else {
                        for (Offset& plane : counts) plane = static_cast<Offset>(reader.number());
                    }
                    read.counts.insert(read.counts.end(), counts.begin(), counts.end());
                }
                read.row_offsets.push_back(read.bins());
            }
            CHECK(read == bins);
            CHECK(reader.at == small.bytes.size());
            CHECK(small.one_each == (bits == 0 || bins.bins() == one.matrix.nonzeros()));
        }
    }
}

TEST_CASE("packed differences of either sign can be unpacked") {
    const std::vector<std::int64_t> all{0, 1, -1, 63, -64, 64, 100000, -100000, 2147483647, -2147483647};
    std::string bytes;
    for (const std::int64_t one : all) add_difference(bytes, one);
    Reader reader{bytes};
    for (const std::int64_t one : all) CHECK(reader.difference() == one);
}

TEST_CASE("the sample has the same nonzeros in every order") {
    for (const NamedMatrix& one : battery()) {
        CAPTURE(one.name);
        StagedMatrix staged = stage_input(one.matrix);
        const PatternSample before = sample_of(staged, 50);
        apply(staged, {.order = OrderChange{Acts::rows, random_permutation(one.matrix.rows, 3)}}, {});
        apply(staged, {.order = OrderChange{Acts::columns, random_permutation(one.matrix.columns, 4)}}, {});
        const PatternSample after = sample_of(staged, 50);
        CHECK(after.original_rows == before.original_rows);
        CHECK(after.original_columns == before.original_columns);
        CHECK(after.values == before.values);
        CHECK(before.drawn_rows == before.original_rows);
        CHECK(before.drawn_columns == before.original_columns);
        for (std::size_t i = 0; i < after.values.size(); ++i) {
            CHECK(staged.row_order.old_of_new(after.drawn_rows[i]) == after.original_rows[i]);
            CHECK(staged.column_order.old_of_new(after.drawn_columns[i]) == after.original_columns[i]);
            const auto columns = staged.matrix.row_columns(after.drawn_rows[i]);
            const auto at = std::find(columns.begin(), columns.end(), after.drawn_columns[i]);
            REQUIRE(at != columns.end());
            CHECK(staged.matrix.values[staged.matrix.row_offsets[after.drawn_rows[i]] + (at - columns.begin())] ==
                  after.values[i]);
        }
    }
}

TEST_CASE("tiles: rows are drawn where they are stored, and can be unpacked") {
    // Row 0 is empty in the second segment; the second tile stores rows 3, 1, 2.
    const CsrMatrix matrix =
        csr_from_entries(4, 4, std::vector<Entry>{{0, 0, 1}, {1, 1, 2}, {1, 2, 3}, {2, 3, 4}, {3, 0, 5}, {3, 2, 6}, {3, 3, 7}});
    StagedMatrix staged = stage_input(matrix);
    staged.cuts = {{CutKind::segment, {0, 2, 4}}};
    staged.shares = {{{ShareKind::segment, 0, 0}, {0, 1, 3}, {0, 1, 2, 3}, {0, 1, 4}},
                     {{ShareKind::segment, 0, 1}, {3, 1, 2}, {0, 2, 3, 4}, {5, 6, 2, 3}}};
    check_invariants(staged, matrix);
    const std::string bytes = packed_tiles(staged);
    Reader reader{bytes};
    std::vector<std::vector<std::int64_t>> tiles;
    for (std::uint64_t count = reader.number(); count > 0; --count) {
        tiles.push_back({static_cast<std::int64_t>(reader.number()), static_cast<std::int64_t>(reader.number())});
        std::int64_t before = -1;
        for (std::uint64_t rows = reader.number(); rows > 0; --rows) {
            before += 1 + reader.difference();
            tiles.back().push_back(before);
        }
    }
    CHECK(tiles == std::vector<std::vector<std::int64_t>>{{0, 0, 0, 1, 3}, {0, 1, 3, 1, 2}});

    const PatternSample sample = sample_of(staged, 100);
    for (std::size_t i = 0; i < sample.values.size(); ++i) {
        const Index place = sample.drawn_rows[i];
        const Share& tile = staged.shares[sample.drawn_columns[i] / 2];
        CHECK(tile.rows.at(place) == sample.original_rows[i]);
    }
}

TEST_CASE("the sample of tiles is drawn below the rows of earlier blocks") {
    // Two blocks of two rows by two segments of two columns, all full; each tile stores its rows in another order.
    std::vector<Entry> entries;
    for (Index row = 0; row < 4; ++row) {
        for (Index column = 0; column < 4; ++column) entries.push_back({row, column, 1.0 + 4 * row + column});
    }
    const CsrMatrix matrix = csr_from_entries(4, 4, entries);
    StagedMatrix staged = stage_input(matrix);
    staged.cuts = {{CutKind::row_block, {0, 2, 4}}, {CutKind::segment, {0, 2, 4}}};
    staged.shares = {{{ShareKind::tile, 0, 0}, {0, 1}, {0, 2, 4}, {0, 1, 4, 5}},
                     {{ShareKind::tile, 0, 1}, {1, 0}, {0, 2, 4}, {6, 7, 2, 3}},
                     {{ShareKind::tile, 1, 0}, {3, 2}, {0, 2, 4}, {12, 13, 8, 9}},
                     {{ShareKind::tile, 1, 1}, {2, 3}, {0, 2, 4}, {10, 11, 14, 15}}};
    check_invariants(staged, matrix);
    const PatternSample sample = sample_of(staged, 100);
    REQUIRE(sample.values.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
        const Index row = sample.original_rows[i];
        const Index segment = sample.original_columns[i] / 2;
        const bool swapped = row < 2 ? segment == 1 : segment == 0;
        CHECK(sample.drawn_rows[i] == (swapped ? row / 2 * 2 + 1 - row % 2 : row));
        CHECK(sample.drawn_columns[i] == sample.original_columns[i]);
    }
}

TEST_CASE("the file contains title, document and each section once") {
    PageFile page;
    const std::string many(300000, 'x');
    CHECK(page.add(page_text("one")) == 0);
    CHECK(page.add(page_text(many)) == 1);
    CHECK(page.add(page_text("one")) == 0);
    CHECK(page.bytes() == page_text("one").size() + page_text(many).size());
    const std::string html = page.html("a < b & c", R"({"kind": "</script>"})");
    CHECK(html.find("<title>a &lt; b &amp; c</title>") != std::string::npos);
    CHECK(section_of_page(html, "document") == R"({"kind": "</script>"})");
    CHECK(section_of_page(html, "section-0") == "one");
    CHECK(section_of_page(html, "section-1") == many);
    CHECK(html.find("section-2") == html.rfind("section-2"));  // at most in the script of the template
    for (const std::string& text : {std::string(), std::string("a"), std::string("ab"), std::string("abc")}) {
        CHECK(inflated(page_text(text)) == text);
    }
    CHECK(html.size() < PageFile::template_bytes() + page.bytes() + 1000);
}

TEST_CASE("the parts of a page are one string, and make the page") {
    PageFile page(PageCompression::none);
    CHECK(page.compression() == PageCompression::none);
    CHECK(page.add("a\nb") == 0);
    CHECK(page.add("") == 1);
    const std::string data = page.data("title", "{}");
    CHECK(parts_of(data) == std::vector<std::string_view>{"title", "{}", "a\nb", ""});
    const std::string html = page_of_parts(data);
    CHECK(section_of_page(html, "document") == "{}");
    CHECK(section_of_page(html, "section-0") == "a\nb");
    for (const std::string_view wrong : {"", "no line", "3 1 \nabc", "1 1 \nabc", "5 \ntitle"}) {
        CHECK_THROWS_AS((void)parts_of(wrong), std::logic_error);
    }
}

}  // namespace workbench
