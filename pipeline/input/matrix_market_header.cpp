#include "pipeline/input/matrix_market_header.hpp"

#include <fmt/core.h>

#include <string>

#include "pipeline/input/size_check.hpp"
#include "pipeline/input/words.hpp"

namespace workbench {
namespace {

using Header = MatrixMarketHeader;

Header::Format format_of(const LineReader& lines, const std::string& word) {
    if (word == "coordinate") return Header::Format::coordinate;
    if (word == "array") return Header::Format::array;
    lines.fail("found the format {}; expected coordinate or array", in_quotes(word));
}

Header::Field field_of(const LineReader& lines, const std::string& word) {
    if (word == "real") return Header::Field::real;
    if (word == "integer") return Header::Field::integer;
    if (word == "pattern") return Header::Field::pattern;
    if (word == "complex") lines.fail("found a complex matrix, which is not supported; expected real, integer or pattern");
    lines.fail("found the field {}; expected real, integer or pattern", in_quotes(word));
}

Header::Symmetry symmetry_of(const LineReader& lines, const std::string& word) {
    if (word == "general") return Header::Symmetry::general;
    if (word == "symmetric") return Header::Symmetry::symmetric;
    if (word == "skew-symmetric") return Header::Symmetry::skew_symmetric;
    if (word == "hermitian") {
        lines.fail("found a Hermitian matrix, which is not supported; expected general, symmetric or skew-symmetric");
    }
    lines.fail("found the symmetry {}; expected general, symmetric or skew-symmetric", in_quotes(word));
}

void read_banner(LineReader& lines, Header& header) {
    constexpr const char* banner =
        "the banner '%%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric|skew-symmetric'";
    if (!lines.next()) lines.fail("found nothing; expected {}", banner);
    std::string_view rest = lines.line();
    const auto word = [&rest] { return lower_case(next_word(rest)); };
    if (word() != "%%matrixmarket" || word() != "matrix") {
        lines.fail("found {}; expected {}", in_quotes(lines.line()), banner);
    }
    header.format = format_of(lines, word());
    header.field = field_of(lines, word());
    header.symmetry = symmetry_of(lines, word());
    expect_end_of_line(rest, "nothing after the symmetry");
    if (header.field != Header::Field::pattern) return;
    if (header.symmetry == Header::Symmetry::skew_symmetric) {
        lines.fail("found a skew-symmetric pattern; expected values, because a pattern has no signs");
    }
    if (header.format == Header::Format::array)
        lines.fail("found an array of a pattern; expected an array of values, or coordinates of a pattern");
}

bool next_content(LineReader& lines) {
    while (lines.next()) {
        if (has_content(lines.line())) return true;
    }
    return false;
}

/// Values in an array file, which has fewer than 2^31 rows and columns.
Offset places_in_array(const Header& header) {
    switch (header.symmetry) {
        case Header::Symmetry::symmetric: return header.rows * (header.rows + 1) / 2;
        case Header::Symmetry::skew_symmetric: return header.rows * (header.rows - 1) / 2;
        case Header::Symmetry::general: break;
    }
    return header.rows * header.columns;
}

void read_size(LineReader& lines, Header& header) {
    const bool array = header.format == Header::Format::array;
    const char* expected = array ? "the size line of an array: rows and columns" : "the size line: rows, columns and entries";
    if (!next_content(lines)) lines.fail("found the end of the file; expected {}", expected);
    std::string_view rest = lines.line();
    header.rows = take_integer(rest, "number of rows", 0, no_limit);
    header.columns = take_integer(rest, "number of columns", 0, no_limit);
    if (!array) header.entries = take_integer(rest, "number of entries", 0, no_limit);
    expect_end_of_line(rest, expected);
    check_size(header.rows, header.columns);
    if (header.symmetry != Header::Symmetry::general && header.rows != header.columns) {
        lines.fail("found {} rows and {} columns; expected a square matrix, because the banner says that it is symmetric",
                   header.rows, header.columns);
    }
    if (array) header.entries = places_in_array(header);
    check_size(header.rows, header.columns, header.entries);
}

}  // namespace

bool has_content(std::string_view line) {
    const std::string_view word = next_word(line);
    return !word.empty() && word[0] != '%';
}

MatrixMarketHeader read_matrix_market_header(LineReader& lines) {
    return lines.with_place([&] {
        Header header;
        read_banner(lines, header);
        read_size(lines, header);
        return header;
    });
}

}  // namespace workbench
