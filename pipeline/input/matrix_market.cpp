#include "pipeline/input/matrix_market.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <system_error>
#include <vector>

#include "pipeline/contract/errors.hpp"
#include "pipeline/input/line_reader.hpp"
#include "pipeline/input/size_check.hpp"
#include "pipeline/input/words.hpp"

namespace workbench {
namespace {

enum class Field { real, integer, pattern };
enum class Symmetry { general, symmetric, skew_symmetric };

struct Header {
    Field field = Field::real;
    Symmetry symmetry = Symmetry::general;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    Offset entries = 0;
};

std::string lower_case(std::string_view word) {
    std::string result(word);
    for (char& c : result) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return result;
}

Field field_of(const LineReader& lines, const std::string& word) {
    if (word == "real") return Field::real;
    if (word == "integer") return Field::integer;
    if (word == "pattern") return Field::pattern;
    if (word == "complex") lines.fail("found a complex matrix, which is not supported; expected real, integer or pattern");
    lines.fail(fmt::format("found the field {}; expected real, integer or pattern", in_quotes(word)));
}

Symmetry symmetry_of(const LineReader& lines, const std::string& word) {
    if (word == "general") return Symmetry::general;
    if (word == "symmetric") return Symmetry::symmetric;
    if (word == "skew-symmetric") return Symmetry::skew_symmetric;
    if (word == "hermitian") {
        lines.fail("found a Hermitian matrix, which is not supported; expected general, symmetric or skew-symmetric");
    }
    lines.fail(fmt::format("found the symmetry {}; expected general, symmetric or skew-symmetric", in_quotes(word)));
}

void read_banner(LineReader& lines, Header& header) {
    constexpr const char* banner =
        "the banner '%%MatrixMarket matrix coordinate real|integer|pattern general|symmetric|skew-symmetric'";
    if (!lines.next()) lines.fail(fmt::format("found nothing; expected {}", banner));
    std::string_view rest = lines.line();
    const auto word = [&rest] { return lower_case(next_word(rest)); };
    if (word() != "%%matrixmarket" || word() != "matrix") {
        lines.fail(fmt::format("found {}; expected {}", in_quotes(lines.line()), banner));
    }
    const std::string format = word();
    if (format == "array") lines.fail("found a dense matrix (array), which is not supported; expected coordinate");
    if (format != "coordinate") lines.fail(fmt::format("found the format {}; expected coordinate", in_quotes(format)));
    header.field = field_of(lines, word());
    header.symmetry = symmetry_of(lines, word());
    if (const std::string_view more = next_word(rest); !more.empty()) {
        lines.fail(fmt::format("found {} after the symmetry; expected the end of the line", in_quotes(more)));
    }
    if (header.field == Field::pattern && header.symmetry == Symmetry::skew_symmetric) {
        lines.fail("found a skew-symmetric pattern; expected values, which alone can be skew-symmetric");
    }
}

// Goes to the next line that is neither blank nor a comment; false at the end of the file.
bool next_content(LineReader& lines) {
    while (lines.next()) {
        std::string_view rest = lines.line();
        const std::string_view word = next_word(rest);
        if (!word.empty() && word[0] != '%') return true;
    }
    return false;
}

void expect_end_of_line(const LineReader& lines, std::string_view rest, const char* expected) {
    const std::string_view more = next_word(rest);
    if (!more.empty()) lines.fail(fmt::format("found {} at the end of the line; expected {}", in_quotes(more), expected));
}

void read_size(LineReader& lines, Header& header) {
    constexpr const char* expected = "the size line: rows, columns and entries";
    if (!next_content(lines)) lines.fail(fmt::format("found the end of the file; expected {}", expected));
    std::string_view rest = lines.line();
    for (std::int64_t* number : {&header.rows, &header.columns, &header.entries}) {
        const std::string_view word = next_word(rest);
        const auto parsed = parse_integer(word);
        if (!parsed || *parsed < 0) {
            lines.fail(fmt::format("found {} in {}; expected a count from 0 to {}", in_quotes(word), in_quotes(lines.line()),
                                   std::numeric_limits<std::int64_t>::max()));
        }
        *number = *parsed;
    }
    expect_end_of_line(lines, rest, expected);
    if (const auto reason = reason_to_refuse_size(header.rows, header.columns, header.entries)) lines.fail(*reason);
    if (header.symmetry != Symmetry::general && header.rows != header.columns) {
        lines.fail(fmt::format("found {} rows and {} columns; expected a square matrix, for it is said to be symmetric",
                               header.rows, header.columns));
    }
}

Index parse_index(const LineReader& lines, std::string_view word, std::int64_t count, const char* axis) {
    const auto parsed = parse_integer(word);
    if (!parsed || *parsed < 1 || *parsed > count) {
        lines.fail(fmt::format("found the {} {}; expected an integer from 1 to {}", axis, in_quotes(word), count));
    }
    return static_cast<Index>(*parsed - 1);
}

double parse_value(const LineReader& lines, std::string_view word, Field field) {
    if (field == Field::integer && word.find_first_not_of("+-0123456789") != std::string_view::npos) {
        lines.fail(fmt::format("found the value {}; expected an integer, as the banner says", in_quotes(word)));
    }
    const auto parsed = parse_real(word);
    if (!parsed) lines.fail(why_not_real(word));
    return *parsed;
}

Entry parse_entry(const LineReader& lines, const Header& header) {
    std::string_view rest = lines.line();
    Entry entry;
    entry.row = parse_index(lines, next_word(rest), header.rows, "row");
    entry.column = parse_index(lines, next_word(rest), header.columns, "column");
    if (header.field == Field::pattern) {
        entry.value = 1;
        expect_end_of_line(lines, rest, "row and column alone, for the banner says pattern");
    } else {
        entry.value = parse_value(lines, next_word(rest), header.field);
        expect_end_of_line(lines, rest, "row, column and value alone");
    }
    return entry;
}

// Completes symmetric and skew-symmetric matrices, entry by entry. Off the diagonal an entry stands for itself and its mirror
// image, in whichever triangle it is given.
class Mirror {
public:
    explicit Mirror(Symmetry symmetry) : symmetry_(symmetry) {}

    void add_mirror_image(const LineReader& lines, const Entry& entry, std::vector<Entry>& entries) {
        if (symmetry_ == Symmetry::general) return;
        if (entry.row == entry.column) {
            if (symmetry_ == Symmetry::skew_symmetric && !(entry.value == 0)) {
                lines.fail("found a diagonal entry in a skew-symmetric matrix; expected entries off the diagonal");
            }
            return;
        }
        ++(entry.row < entry.column ? above_ : below_);
        entries.push_back({entry.column, entry.row, symmetry_ == Symmetry::symmetric ? entry.value : -entry.value});
    }

    /// Refuses a file that gives every pair twice, once in each triangle: it was written whole, as if it were general, and
    /// mirroring doubles it.
    void check_completed(const LineReader& lines, const CsrMatrix& matrix) const {
        if (above_ == 0 || above_ != below_) return;
        Offset off_diagonal = 0;
        for (Index row = 0; row < matrix.rows; ++row) {
            for (const Index column : matrix.row_columns(row)) off_diagonal += column == row ? 0 : 1;
        }
        if (off_diagonal == above_ + below_) {
            lines.fail("found both triangles of a symmetric matrix; expected one, or the symmetry 'general' in the banner");
        }
    }

private:
    Symmetry symmetry_;
    Offset above_ = 0;  // entries above the diagonal in the file
    Offset below_ = 0;
};

std::vector<Entry> read_entries(LineReader& lines, const Header& header, Mirror& mirror, std::uintmax_t file_bytes) {
    std::vector<Entry> entries;
    // An entry takes four bytes of text at least, which compress some four times: a guess that no header can inflate.
    const std::uintmax_t guess = std::min(static_cast<std::uintmax_t>(header.entries), file_bytes);
    entries.reserve(header.symmetry == Symmetry::general ? guess : 2 * guess);
    Offset read = 0;
    while (next_content(lines)) {
        if (read == header.entries) {
            lines.fail(fmt::format("found a further entry; expected {}, as the size line says", header.entries));
        }
        const Entry entry = parse_entry(lines, header);
        ++read;
        entries.push_back(entry);
        mirror.add_mirror_image(lines, entry, entries);
    }
    if (read < header.entries) {
        lines.fail(fmt::format("found the end of the file after {} of {} entries; expected as many as the size line says", read,
                               header.entries));
    }
    return entries;
}

}  // namespace

CsrMatrix read_matrix_market(const std::filesystem::path& path) {
    LineReader lines(path);
    Header header;
    read_banner(lines, header);
    read_size(lines, header);
    std::error_code unknown;
    const std::uintmax_t file_bytes = std::filesystem::file_size(path, unknown);
    Mirror mirror(header.symmetry);
    const std::vector<Entry> entries = read_entries(lines, header, mirror, unknown ? 0 : file_bytes);
    CsrMatrix matrix = csr_from_entries(static_cast<Index>(header.rows), static_cast<Index>(header.columns), entries);
    mirror.check_completed(lines, matrix);
    return matrix;
}

}  // namespace workbench
