#include "pipeline/input/matrix_market_header.hpp"

#include <fmt/core.h>

#include <limits>
#include <string>

#include "pipeline/input/size_check.hpp"
#include "pipeline/input/words.hpp"

namespace workbench {
namespace {

using Header = MatrixMarketHeader;

Header::Format format_of(const LineReader& lines, const std::string& word) {
    if (word == "coordinate") return Header::Format::coordinate;
    if (word == "array") return Header::Format::array;
    lines.fail(fmt::format("found the format {}; expected coordinate or array", in_quotes(word)));
}

Header::Field field_of(const LineReader& lines, const std::string& word) {
    if (word == "real") return Header::Field::real;
    if (word == "integer") return Header::Field::integer;
    if (word == "pattern") return Header::Field::pattern;
    if (word == "complex") lines.fail("found a complex matrix, which is not supported; expected real, integer or pattern");
    lines.fail(fmt::format("found the field {}; expected real, integer or pattern", in_quotes(word)));
}

Header::Symmetry symmetry_of(const LineReader& lines, const std::string& word) {
    if (word == "general") return Header::Symmetry::general;
    if (word == "symmetric") return Header::Symmetry::symmetric;
    if (word == "skew-symmetric") return Header::Symmetry::skew_symmetric;
    if (word == "hermitian") {
        lines.fail("found a Hermitian matrix, which is not supported; expected general, symmetric or skew-symmetric");
    }
    lines.fail(fmt::format("found the symmetry {}; expected general, symmetric or skew-symmetric", in_quotes(word)));
}

void read_banner(LineReader& lines, Header& header) {
    constexpr const char* banner =
        "the banner '%%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric|skew-symmetric'";
    if (!lines.next()) lines.fail(fmt::format("found nothing; expected {}", banner));
    std::string_view rest = lines.line();
    const auto word = [&rest] { return lower_case(next_word(rest)); };
    if (word() != "%%matrixmarket" || word() != "matrix") {
        lines.fail(fmt::format("found {}; expected {}", in_quotes(lines.line()), banner));
    }
    header.format = format_of(lines, word());
    header.field = field_of(lines, word());
    header.symmetry = symmetry_of(lines, word());
    if (const std::string_view more = next_word(rest); !more.empty()) {
        lines.fail(fmt::format("found {} after the symmetry; expected the end of the line", in_quotes(more)));
    }
    if (header.field != Header::Field::pattern) return;
    if (header.symmetry == Header::Symmetry::skew_symmetric) {
        lines.fail("found a skew-symmetric pattern; expected values, which alone can be skew-symmetric");
    }
    if (header.format == Header::Format::array) lines.fail("found an array of a pattern; expected values, or coordinates");
}

bool next_content(LineReader& lines) {
    while (lines.next()) {
        std::string_view rest = lines.line();
        const std::string_view word = next_word(rest);
        if (!word.empty() && word[0] != '%') return true;
    }
    return false;
}

std::int64_t read_count(const LineReader& lines, std::string_view& rest) {
    const std::string_view word = next_word(rest);
    const auto count = parse_integer(word);
    if (!count || *count < 0) {
        lines.fail(fmt::format("found {} in {}; expected a count from 0 to {}", in_quotes(word), in_quotes(lines.line()),
                               std::numeric_limits<std::int64_t>::max()));
    }
    return *count;
}

/// How many values stand in an array file of less than 2^31 rows and columns.
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
    if (!next_content(lines)) lines.fail(fmt::format("found the end of the file; expected {}", expected));
    std::string_view rest = lines.line();
    header.rows = read_count(lines, rest);
    header.columns = read_count(lines, rest);
    if (!array) header.entries = read_count(lines, rest);
    if (const std::string_view more = next_word(rest); !more.empty()) {
        lines.fail(fmt::format("found {} at the end of the line; expected {}", in_quotes(more), expected));
    }
    if (const auto reason = reason_to_refuse_size(header.rows, header.columns)) lines.fail(*reason);
    if (header.symmetry != Header::Symmetry::general && header.rows != header.columns) {
        lines.fail(fmt::format("found {} rows and {} columns; expected a square matrix, for it is said to be symmetric",
                               header.rows, header.columns));
    }
    if (array) header.entries = places_in_array(header);
    if (const auto reason = reason_to_refuse_size(header.rows, header.columns, header.entries)) lines.fail(*reason);
}

}  // namespace

MatrixMarketHeader read_matrix_market_header(LineReader& lines) {
    Header header;
    read_banner(lines, header);
    read_size(lines, header);
    return header;
}

}  // namespace workbench
