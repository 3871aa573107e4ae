#include "pipeline/input/rutherford_boeing.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/input/fortran_format.hpp"
#include "pipeline/input/reading_memory.hpp"

namespace workbench {
namespace {

struct RutherfordBoeingHeader {
    char field = 'r';     // r, i or p
    char symmetry = 'u';  // s, z, u or r
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    Offset entries = 0;
    bool right_hand_sides = false;
    FortranFormat pointers;
    FortranFormat indices;
    FortranFormat values;

    [[nodiscard]] bool triangle() const { return symmetry == 's' || symmetry == 'z'; }
};

std::string_view without_newline(std::string_view line) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    return line;
}

// ---- the header ----

bool is_type(std::string_view line) {
    const std::string type = lower_case(line.substr(0, 4));
    return type.size() >= 3 && std::string_view("rcipqx").find(type[0]) != std::string_view::npos &&
           std::string_view("suhzr").find(type[1]) != std::string_view::npos &&
           std::string_view("ae").find(type[2]) != std::string_view::npos && (type.size() == 3 || type[3] == ' ');
}

std::string_view next_header_line(LineReader& lines, const char* expected) {
    if (!lines.next()) lines.fail("found the end of the file; expected {}", expected);
    return without_newline(lines.line());
}

void read_type(const LineReader& lines, std::string_view word, RutherfordBoeingHeader& header) {
    const std::string type = lower_case(word);
    const auto refuse = [&](const char* kind) {
        lines.fail("found {}, {} matrix, which is not supported; expected R, I or P, then S, Z, U or R, then A",
                   in_quotes(word), kind);
    };
    if (type[0] == 'c') refuse("a complex");
    if (type[1] == 'h') refuse("a Hermitian");
    if (type[2] == 'e') refuse("an elemental");
    if (type[0] == 'q' || type[0] == 'x') refuse("an auxiliary");
    header.field = type[0];
    header.symmetry = type[1];
    if (header.field == 'p' && header.symmetry == 'z') {
        lines.fail("found a skew-symmetric pattern; expected values, because a pattern has no signs");
    }
}

/// Removes the next format from the line: the text between two matching parentheses.
FortranFormat read_format(const LineReader& lines, std::string_view& rest, const char* what, char kind) {
    const auto begin = std::min(rest.find_first_not_of(' '), rest.size());
    std::size_t end = begin;
    for (int depth = 0; end < rest.size(); ++end) {
        if (rest[end] == '(') ++depth;
        if (rest[end] == ')' && --depth == 0) break;
    }
    const std::string_view text = rest.substr(begin, end < rest.size() ? end + 1 - begin : end - begin);
    rest.remove_prefix(begin + text.size());
    const auto format = parse_fortran_format(text);
    if (!format || (kind == 'i' && format->kind != 'i')) {
        lines.fail("found {} as the format of the {}; expected one such as {}", in_quotes(text), what,
                   kind == 'i' ? "(8I10)" : "(1P,4E20.12)");
    }
    return *format;
}

RutherfordBoeingHeader read_rutherford_boeing_header(LineReader& lines) {
    RutherfordBoeingHeader header;
    next_header_line(lines, "a title");
    std::string_view counts = next_header_line(lines, "the numbers of lines");
    take_integer(counts, "number of lines", 0, no_limit);
    take_integer(counts, "number of lines of pointers", 0, no_limit);
    take_integer(counts, "number of lines of indices", 0, no_limit);
    const std::int64_t value_lines = take_integer(counts, "number of lines of values", 0, no_limit);
    if (std::string_view more = counts; !next_word(more).empty()) {
        header.right_hand_sides = take_integer(counts, "number of lines of right-hand sides", 0, no_limit) > 0;
    }
    std::string_view sizes = next_header_line(lines, "the type and the size of the matrix");
    read_type(lines, next_word(sizes), header);
    header.rows = take_integer(sizes, "number of rows", 0, no_limit);
    header.columns = take_integer(sizes, "number of columns", 0, no_limit);
    header.entries = take_integer(sizes, "number of entries", 0, no_limit);
    if (header.field != 'p' && value_lines == 0 && header.entries > 0) {
        lines.fail("found no lines of values; expected some, or the type P for a pattern");
    }
    check_size(header.rows, header.columns, header.entries);
    if (header.triangle() && header.rows != header.columns) {
        lines.fail("found {} rows and {} columns; expected a square matrix, because its type is symmetric", header.rows,
                   header.columns);
    }
    std::string_view formats = next_header_line(lines, "the formats");
    header.pointers = read_format(lines, formats, "pointers", 'i');
    header.indices = read_format(lines, formats, "indices", 'i');
    if (header.field != 'p' && header.entries > 0) header.values = read_format(lines, formats, "values", 'f');
    if (header.right_hand_sides) next_header_line(lines, "the type of the right-hand sides");
    return header;
}

// ---- the three lists ----

/// Returns the fields of a list one by one; a list begins on a new line.
class Fields {
public:
    Fields(LineReader& lines, const FortranFormat& format, std::int64_t count, const char* what)
        : lines_(lines), format_(format), count_(count), what_(what) {}

    std::string_view next() {
        if (given_ % format_.fields == 0) next_line();
        const std::string_view field = line_.substr(0, format_.width);
        if (field.find_first_not_of(' ') == std::string_view::npos) {
            lines_.fail("found no field {}; expected {} {}, {} per line", given_ % format_.fields + 1, count_, what_,
                        format_.fields);
        }
        // The beginning of a number that was cut off may look like a number.
        if (lines_.open_end() && field.size() < static_cast<std::size_t>(format_.width)) {
            lines_.fail("found the end of the file in {}, a field of {}; expected {} characters", in_quotes(field), what_,
                        format_.width);
        }
        line_.remove_prefix(field.size());
        ++given_;
        const bool ends_line = given_ % format_.fields == 0 || given_ == count_;
        if (std::string_view rest = line_; ends_line && !next_word(rest).empty()) {
            expect_end_of_line(line_, fmt::format("{} {}, {} per line", count_, what_, format_.fields));
        }
        return field;
    }

private:
    void next_line() {
        if (!lines_.next()) {
            lines_.fail("found the end of the file after {} of {} {}; expected them all", given_, count_, what_);
        }
        line_ = without_newline(lines_.line());
    }

    LineReader& lines_;
    const FortranFormat& format_;
    std::int64_t count_;
    const char* what_;
    std::int64_t given_ = 0;
    std::string_view line_;
};

std::int64_t parse_field(std::string_view field, const char* what, std::int64_t least, std::int64_t most) {
    const std::int64_t number = take_integer(field, what, least, most);
    expect_end_of_line(field, "one number per field");
    return number;
}

constexpr std::int64_t counted_together = std::int64_t{1} << 16;  // elements per request to ReadingMemory

/// The column pointers, counted from 0.
std::vector<Offset> read_pointers(LineReader& lines, const RutherfordBoeingHeader& header, ReadingMemory& memory) {
    Fields fields(lines, header.pointers, header.columns + 1, "pointers");
    std::vector<Offset> pointers;
    for (std::int64_t i = 0; i <= header.columns; ++i) {
        if (i % counted_together == 0) memory.take(counted_together * sizeof(Offset));
        const Offset least = pointers.empty() ? 0 : pointers.back();
        const Offset most = pointers.empty() ? 0 : header.entries;
        pointers.push_back(parse_field(fields.next(), "pointer", least + 1, most + 1) - 1);
    }
    if (pointers.back() != header.entries) {
        lines.fail("found {} as the last pointer; expected {}, one more than the number of entries", pointers.back() + 1,
                   header.entries + 1);
    }
    return pointers;
}

void check_triangle(const LineReader& lines, const RutherfordBoeingHeader& header, const Entry& entry) {
    if (!header.triangle()) return;
    const bool skew = header.symmetry == 'z';
    if (entry.row > entry.column || (entry.row == entry.column && !skew)) return;
    lines.fail("found row {} in column {} of a {} matrix; expected rows below the diagonal{}", entry.row + 1, entry.column + 1,
               skew ? "skew-symmetric" : "symmetric", skew ? "" : " or on it");
}

std::vector<Entry> read_places(LineReader& lines, const RutherfordBoeingHeader& header, ReadingMemory& memory) {
    const std::vector<Offset> pointers = read_pointers(lines, header, memory);
    Fields fields(lines, header.indices, header.entries, "row indices");
    std::vector<Entry> entries;
    for (Index column = 0; column < header.columns; ++column) {
        for (Offset i = pointers[column]; i < pointers[column + 1]; ++i) {
            if (i % counted_together == 0) memory.take(counted_together * sizeof(Entry));
            const std::int64_t row = parse_field(fields.next(), "row index", 1, header.rows);
            entries.push_back({static_cast<Index>(row - 1), column, 1});
            check_triangle(lines, header, entries.back());
        }
    }
    return entries;
}

void read_values(LineReader& lines, const RutherfordBoeingHeader& header, std::vector<Entry>& entries) {
    Fields fields(lines, header.values, header.entries, "values");
    for (Entry& entry : entries) {
        const std::string_view field = fields.next();
        const auto value = parse_fortran_real(field, header.values);
        if (!value) {
            std::string_view rest = field;
            throw LineError{why_not_real(next_word(rest))};
        }
        entry.value = *value;
    }
}

void expect_end(LineReader& lines) {
    while (lines.next()) {
        if (!without_newline(lines.line()).empty()) {
            lines.fail("found {} after the matrix; expected the end of the file", in_quotes(lines.line()));
        }
    }
}

}  // namespace

bool is_rutherford_boeing(std::string_view start) {
    std::string_view line;
    for (int number = 1; number <= 4; ++number) {
        line = start.substr(0, start.find('\n'));
        if (number == 3 && !is_type(line)) return false;
        start.remove_prefix(std::min(line.size() + 1, start.size()));
    }
    return next_word(line).starts_with('(');
}

CsrMatrix read_rutherford_boeing(LineReader& lines) {
    return lines.with_place([&] {
        const RutherfordBoeingHeader header = read_rutherford_boeing_header(lines);
        const Offset nonzeros = header.triangle() ? doubled(header.entries) : header.entries;
        ReadingMemory memory(lines.name(), {header.rows, header.entries, nonzeros}, 1, lines.most_bytes());
        std::vector<Entry> entries = read_places(lines, header, memory);
        if (header.field != 'p' && header.entries > 0) read_values(lines, header, entries);
        if (!header.right_hand_sides) expect_end(lines);
        memory.require_matrix(nonzeros);
        const Mirror mirror = !header.triangle() ? Mirror::nothing : header.symmetry == 's' ? Mirror::same : Mirror::negated;
        const std::span<const Entry> all(entries);
        return csr_from_entries(static_cast<Index>(header.rows), static_cast<Index>(header.columns), {&all, 1}, mirror);
    });
}

}  // namespace workbench
