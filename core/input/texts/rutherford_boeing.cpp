#include "core/input/texts/rutherford_boeing.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/input/bytes/reading_memory.hpp"
#include "core/input/texts/entry_store.hpp"
#include "core/input/texts/fortran_format.hpp"
#include "core/input/texts/line_blocks.hpp"
#include "core/matrix/guarded_loop.hpp"
#include "core/text/words.hpp"

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
    const auto is_integer = [](const FortranField& field) { return field.kind == 'i'; };
    if (!format || (kind == 'i' && !std::ranges::all_of(format->first, is_integer))) {
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
        lines.fail("found {} and {}; expected a square matrix, because its type is symmetric", counted(header.rows, "row"),
                   counted(header.columns, "column"));
    }
    std::string_view formats = next_header_line(lines, "the formats");
    header.pointers = read_format(lines, formats, "pointers", 'i');
    header.indices = read_format(lines, formats, "indices", 'i');
    if (header.field != 'p' && header.entries > 0) header.values = read_format(lines, formats, "values", 'f');
    if (header.right_hand_sides) next_header_line(lines, "the type of the right-hand sides");
    return header;
}

// ---- the three lists ----

/// A list of fields, which begins on a new line. The place of a field follows from the number of its line.
struct FortranFields {
    const FortranFormat& format;
    std::int64_t count = 0;
    const char* what = "";

    /// The number of fields before a line of the list.
    [[nodiscard]] std::int64_t fields_before(std::int64_t line) const {
        return line == 0 ? 0 : std::min(count, std::ssize(format.first) + (line - 1) * std::ssize(format.later));
    }
    [[nodiscard]] std::int64_t lines() const {
        if (count == 0) return 0;
        const std::int64_t behind_first = count - fields_before(1);
        const std::int64_t per_line = std::ssize(format.later);
        return 1 + behind_first / per_line + (behind_first % per_line > 0 ? 1 : 0);
    }
    /// The fields of a line of the list.
    [[nodiscard]] std::span<const FortranField> fields_of(std::int64_t line) const {
        return std::span(format.of_line(line)).first(fields_before(line + 1) - fields_before(line));
    }
};

/// Returns the fields of a line one by one. Throws LineError.
class LineFields {
public:
    /// number: the number of the line in the list. open_end: the line lacks its newline.
    LineFields(const FortranFields& list, std::string_view line, std::int64_t number, bool open_end)
        : list_(list),
          line_(without_newline(line)),
          rest_(line_),
          fields_(list.fields_of(number)),
          per_line_(std::ssize(list.format.of_line(number))),
          open_end_(open_end) {}

    std::string_view next() {
        const int begin = fields_[given_].begin;
        const int width = fields_[given_].width;
        std::string_view field;
        if (width == 0) {
            field = next_word(rest_);
        } else {
            field = line_.substr(std::min<std::size_t>(begin, line_.size()), width);
            rest_ = line_.substr(std::min<std::size_t>(begin + width, line_.size()));
        }
        if (field.find_first_not_of(' ') == std::string_view::npos) {
            throw LineError{
                fmt::format("found no field {}; expected {} {}, {} per line", given_ + 1, list_.count, list_.what, per_line_)};
        }
        // The beginning of a number that was cut off may look like a number.
        if (open_end_ && std::cmp_less(field.size(), width)) {
            throw LineError{fmt::format("found the end of the file in {}, a field of {}; expected {}", in_quotes(field),
                                        list_.what, counted(width, "character"))};
        }
        if (std::string_view more = rest_; ++given_ == fields_.size() && !next_word(more).empty()) {
            expect_end_of_line(rest_, fmt::format("{} {}, {} per line", list_.count, list_.what, per_line_));
        }
        return field;
    }

private:
    const FortranFields& list_;
    std::string_view line_;
    std::string_view rest_;  // behind the fields that were returned
    std::span<const FortranField> fields_;
    std::ptrdiff_t per_line_;
    bool open_end_;
    std::size_t given_ = 0;
};

[[noreturn]] void fail_at_end(const LineReader& lines, const FortranFields& list, std::int64_t lines_of_list) {
    lines.fail("found the end of the file after {} of {} {}; expected them all", list.fields_before(lines_of_list), list.count,
               list.what);
}

std::int64_t parse_field(std::string_view field, const char* what, std::int64_t least, std::int64_t most) {
    const std::int64_t number = take_integer(field, what, least, most);
    expect_end_of_line(field, "one number per field");
    return number;
}

constexpr std::int64_t counted_together = std::int64_t{1} << 16;  // elements per request to ReadingMemory

/// The column pointers, counted from 0.
std::vector<Offset> read_pointers(LineReader& lines, const RutherfordBoeingHeader& header, ReadingMemory& memory) {
    const FortranFields list{header.pointers, header.columns + 1, "pointers"};
    std::vector<Offset> pointers;
    for (std::int64_t line = 0; line < list.lines(); ++line) {
        if (!lines.next()) fail_at_end(lines, list, line);
        LineFields fields(list, lines.line(), line, lines.open_end());
        for (std::size_t i = list.fields_of(line).size(); i > 0; --i) {
            if (pointers.size() % counted_together == 0) memory.take(counted_together * sizeof(Offset));
            const Offset least = pointers.empty() ? 0 : pointers.back();
            const Offset most = pointers.empty() ? 0 : header.entries;
            pointers.push_back(parse_field(fields.next(), "pointer", least + 1, most + 1) - 1);
        }
    }
    if (pointers.back() != header.entries) {
        lines.fail("found {} as the last pointer; expected {}, one more than the number of entries", pointers.back() + 1,
                   header.entries + 1);
    }
    return pointers;
}

// The row indices and the values are parsed in blocks on all threads.

struct FieldBlock : BlockOutcome {
    BlockPlace place;
    std::span<Entry> entries;    // of the row indices
    std::vector<double> values;  // of entries first_value, first_value + 1, ...
    std::int64_t first_value = 0;
};

/// The number in a field: blanks, then digits. -1: the field is for the slow path.
std::int64_t plain_number(const char* at, const char* end) {
    constexpr std::ptrdiff_t surely_fit = 18;  // digits
    while (at < end && *at == ' ') ++at;
    if (at == end || end - at > surely_fit) return -1;
    std::int64_t number = 0;
    for (; at < end; ++at) {
        const auto digit = static_cast<unsigned>(*at - '0');
        if (digit > 9) return -1;
        number = 10 * number + digit;
    }
    return number;
}

/// Sets `value` to the number in a field: blanks, then a number with a decimal point that Fortran and C++ read alike. False:
/// the field is for the slow path.
bool take_plain_real(const char* at, const char* end, const FortranField& field, double& value) {
    while (at < end && *at == ' ') ++at;
    const auto [behind, error] = std::from_chars(at, end, value);
    const std::string_view word(at, end - at);
    return error == std::errc{} && behind == end && word.find('.') != std::string_view::npos &&
           (field.scale == 0 || word.find_first_of("eE") != std::string_view::npos);
}

class FieldParser {
public:
    FieldParser(const RutherfordBoeingHeader& header, const std::vector<Offset>& pointers, EntryStore& store)
        : header_(header), pointers_(pointers), store_(store) {}

    [[nodiscard]] const FortranFields& indices() const { return indices_; }
    [[nodiscard]] const FortranFields& values() const { return values_; }

    /// Parses a block; false if the text behind it is not read.
    bool parse(std::string_view text, FieldBlock& block) const {
        const std::int64_t index_lines =
            std::clamp<std::int64_t>(indices_.lines() - block.place.lines_before, 0, static_cast<std::int64_t>(text.size()));
        const std::int64_t first_line = std::min(block.place.lines_before, indices_.lines());
        // Each field has a character at least.
        const auto most = std::min(static_cast<std::int64_t>(text.size()),
                                   indices_.fields_before(first_line + index_lines) - indices_.fields_before(first_line));
        std::span<Entry> room;
        if (most > 0) room = store_.take(most);
        std::size_t entries = 0;
        const auto keep = [&] {
            block.entries = room.first(entries);
            if (most > 0) store_.give_back(room.subspan(entries));
        };
        try {
            const bool goes_on = parse_lines(text, block, room, entries);
            keep();
            return goes_on;
        } catch (const LineError&) {
            keep();
            throw;
        }
    }

private:
    bool parse_lines(std::string_view text, FieldBlock& block, std::span<Entry> room, std::size_t& entries) const {
        for (; !text.empty(); ++block.lines) {
            const std::size_t length = text.find('\n');
            const std::string_view line = text.substr(0, length);
            text.remove_prefix(length + 1);
            const std::int64_t number = block.place.lines_before + block.lines;
            const bool open_end = block.place.open_end && text.empty();
            if (number < indices_.lines()) {
                parse_indices(line, number, open_end, room, entries);
            } else if (number < indices_.lines() + values_.lines()) {
                parse_values(line, number - indices_.lines(), open_end, block);
            } else if (header_.right_hand_sides) {
                return false;
            } else if (!without_newline(line).empty()) {
                throw LineError{
                    fmt::format("found {} after the matrix; expected the end of the file", in_quotes(without_newline(line)))};
            }
        }
        return true;
    }

    void parse_indices(std::string_view line, std::int64_t number, bool open_end, std::span<Entry> room,
                       std::size_t& entries) const {
        std::int64_t place = indices_.fields_before(number);  // of the entry
        auto column = static_cast<Index>(std::upper_bound(pointers_.begin(), pointers_.end(), place) - pointers_.begin() - 1);
        for_each_field(indices_, line, number, open_end,
                       [&](const char* begin, const char* end, const FortranField&, const auto& text) {
                           std::int64_t row = plain_number(begin, end);
                           if (row < 1 || row > header_.rows) row = parse_field(text(), "row index", 1, header_.rows);
                           while (pointers_[column + 1] <= place) ++column;
                           ++place;
                           room[entries] = {static_cast<Index>(row - 1), column, 1};
                           check_triangle(room[entries++]);
                       });
    }

    void parse_values(std::string_view line, std::int64_t number, bool open_end, FieldBlock& block) const {
        if (block.values.empty()) block.first_value = values_.fields_before(number);
        for_each_field(
            values_, line, number, open_end,
            [&](const char* begin, const char* end, const FortranField& field, const auto& text) {
                double value = 0;
                if (!take_plain_real(begin, end, field, value)) {
                    std::string_view word = text();
                    const auto parsed = parse_fortran_real(word, field);
                    word = next_word(word);
                    if (!parsed) throw LineError{why_not_real(word)};
                    if (field.kind == 'i' && !is_exact_integer(word, *parsed)) {
                        throw LineError{fmt::format("found the integer {}, which f64 rounds to {:.0f}; expected an exact one",
                                                    in_quotes(word), *parsed)};
                    }
                    value = *parsed;
                }
                block.values.push_back(value);
            });
    }

    /// Calls visit(begin, end, field, text) for the fields of a line: the characters from `begin` to `end` and text(), the same
    /// after all checks. If the line is not as wide as its fields, or wider, all are checked.
    static void for_each_field(const FortranFields& list, std::string_view line, std::int64_t number, bool open_end,
                               const auto& visit) {
        const auto fields = list.fields_of(number);
        if (line.ends_with('\r')) line.remove_suffix(1);
        LineFields checked(list, line, number, open_end);
        const bool is_whole = fields.back().width > 0 && std::cmp_equal(line.size(), fields.back().begin + fields.back().width);
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (!is_whole) {
                const std::string_view text = checked.next();
                visit(text.data(), text.data() + text.size(), fields[i], [=] { return text; });
                continue;
            }
            const char* const begin = line.data() + fields[i].begin;
            visit(begin, begin + fields[i].width, fields[i], [&] {
                LineFields again(list, line, number, open_end);
                for (std::size_t k = 0; k < i; ++k) (void)again.next();
                return again.next();
            });
        }
    }

    void check_triangle(const Entry& entry) const {
        if (!header_.triangle()) return;
        const bool skew = header_.symmetry == 'z';
        if (entry.row > entry.column || (entry.row == entry.column && !skew)) return;
        throw LineError{fmt::format("found row {} in column {} of a {} matrix; expected rows below the diagonal{}",
                                    entry.row + 1, entry.column + 1, skew ? "skew-symmetric" : "symmetric",
                                    skew ? "" : " or on it")};
    }

    const RutherfordBoeingHeader& header_;
    const std::vector<Offset>& pointers_;
    EntryStore& store_;
    FortranFields indices_{header_.indices, header_.entries, "row indices"};
    FortranFields values_{header_.values, header_.field == 'p' ? 0 : header_.entries, "values"};
};

/// Reports the first error in the text, or that it ends too early.
void check_blocks(LineReader& lines, const RutherfordBoeingHeader& header, const FieldParser& parser,
                  const std::deque<FieldBlock>& blocks) {
    std::int64_t read = 0;
    for (const FieldBlock& block : blocks) {
        check_outcome(lines, block);
        read += block.lines;
        lines.count(block.lines);
    }
    const std::int64_t index_lines = parser.indices().lines();
    const bool is_whole = read >= index_lines + parser.values().lines();
    if (is_whole && header.right_hand_sides) return;
    if (lines.next() || is_whole) return;  // next() throws if the text is damaged
    read < index_lines ? fail_at_end(lines, parser.indices(), read) : fail_at_end(lines, parser.values(), read - index_lines);
}

/// Copies the values to their entries.
void place_values(std::deque<FieldBlock>& blocks) {
    std::vector<std::int64_t> begins{0};  // the number of the first entry of each block
    for (const FieldBlock& block : blocks) begins.push_back(begins.back() + std::ssize(block.entries));
    guarded_for("place_values", UnevenHostRange<std::int64_t>(0, std::ssize(blocks)), [&](std::int64_t i) {
        std::int64_t entry = blocks[i].first_value;
        std::int64_t target = std::upper_bound(begins.begin(), begins.end(), entry) - begins.begin() - 1;
        for (const double value : blocks[i].values) {
            while (entry >= begins[target + 1]) ++target;
            blocks[target].entries[entry - begins[target]].value = value;
            ++entry;
        }
    });
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
        const std::vector<Offset> pointers = read_pointers(lines, header, memory);
        EntryStore store(lines.most_bytes());
        const FieldParser parser(header, pointers, store);
        auto blocks = parse_blocks<FieldBlock>(lines, [&](std::string_view text, FieldBlock& block) {
            const bool goes_on = parser.parse(text, block);
            memory.take(block.entries.size() * sizeof(Entry) + block.values.size() * sizeof(double));
            return goes_on;
        });
        check_blocks(lines, header, parser, blocks);
        place_values(blocks);
        memory.require_matrix(nonzeros);
        const Mirror mirror = !header.triangle() ? Mirror::nothing : header.symmetry == 's' ? Mirror::same : Mirror::negated;
        std::vector<std::span<const Entry>> pieces;
        for (const FieldBlock& block : blocks) pieces.emplace_back(block.entries);
        return csr_from_entries(static_cast<Index>(header.rows), static_cast<Index>(header.columns), pieces, mirror);
    });
}

}  // namespace workbench
