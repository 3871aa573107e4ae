#include "core/input/texts/matrix_market.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <deque>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/input/bytes/reading_memory.hpp"
#include "core/input/texts/entry_store.hpp"
#include "core/input/texts/line_blocks.hpp"
#include "core/text/words.hpp"

namespace workbench {
namespace {

enum class MatrixMarketFormat { coordinate, array };
enum class MatrixMarketField { real, integer, pattern };

struct MatrixMarketHeader {
    MatrixMarketFormat format = MatrixMarketFormat::coordinate;
    MatrixMarketField field = MatrixMarketField::real;
    Mirror mirror = Mirror::nothing;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    Offset entries = 0;  // in the file, without mirror images
};

struct EntryBlock : BlockOutcome {
    std::span<Entry> entries;  // of an array: only values until place_values
    Offset above = 0;          // entries above the diagonal
    Offset below = 0;
    Offset rounded = 0;  // integers that f64 does not contain
    std::int64_t first_rounded_line = 0;
};

// ---- the header ----

/// Takes a word of the banner and returns the choice that it names.
template <typename Choice>
Choice take_choice(std::string_view& banner, const char* what, const char* expected,
                   std::initializer_list<std::pair<std::string_view, Choice>> choices) {
    const std::string word = lower_case(next_word(banner));
    for (const auto& [name, choice] : choices) {
        if (word == name) return choice;
    }
    if (word == "complex" || word == "hermitian") {
        throw LineError{fmt::format("found a {} matrix, which is not supported; expected {}", word, expected)};
    }
    throw LineError{fmt::format("found the {} {}; expected {}", what, in_quotes(word), expected)};
}

void read_banner(LineReader& lines, MatrixMarketHeader& header) {
    constexpr const char* banner =
        "the banner '%%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric|skew-symmetric'";
    if (!lines.next()) lines.fail("found nothing; expected {}", banner);
    std::string_view rest = lines.line();
    if (lower_case(next_word(rest)) != "%%matrixmarket" || lower_case(next_word(rest)) != "matrix") {
        lines.fail("found {}; expected {}", in_quotes(lines.line()), banner);
    }
    header.format =
        take_choice<MatrixMarketFormat>(rest, "format", "coordinate or array",
                                        {{"coordinate", MatrixMarketFormat::coordinate}, {"array", MatrixMarketFormat::array}});
    header.field = take_choice<MatrixMarketField>(rest, "field", "real, integer or pattern",
                                                  {{"real", MatrixMarketField::real},
                                                   {"integer", MatrixMarketField::integer},
                                                   {"unsigned-integer", MatrixMarketField::integer},
                                                   {"pattern", MatrixMarketField::pattern}});
    header.mirror =
        take_choice<Mirror>(rest, "symmetry", "general, symmetric or skew-symmetric",
                            {{"general", Mirror::nothing}, {"symmetric", Mirror::same}, {"skew-symmetric", Mirror::negated}});
    expect_end_of_line(rest, "nothing after the symmetry");
    if (header.field != MatrixMarketField::pattern) return;
    if (header.mirror == Mirror::negated) {
        lines.fail("found a skew-symmetric pattern; expected values, because a pattern has no signs");
    }
    if (header.format == MatrixMarketFormat::array) {
        lines.fail("found an array of a pattern; expected an array of values, or coordinates of a pattern");
    }
}

/// False for blank lines and comments.
bool has_content(std::string_view line) {
    const std::string_view word = next_word(line);
    return !word.empty() && word[0] != '%';
}

/// Values in an array file, which has fewer than 2^31 rows and columns.
Offset places_in_array(const MatrixMarketHeader& header) {
    if (header.mirror == Mirror::nothing) return header.rows * header.columns;
    return header.rows * (header.mirror == Mirror::same ? header.rows + 1 : header.rows - 1) / 2;
}

void read_size(LineReader& lines, MatrixMarketHeader& header) {
    const bool array = header.format == MatrixMarketFormat::array;
    const char* expected = array ? "the size line of an array: rows and columns" : "the size line: rows, columns and entries";
    do {
        if (!lines.next()) lines.fail("found the end of the file; expected {}", expected);
    } while (!has_content(lines.line()));
    std::string_view rest = lines.line();
    header.rows = take_integer(rest, "number of rows", 0, no_limit);
    header.columns = take_integer(rest, "number of columns", 0, no_limit);
    if (!array) header.entries = take_integer(rest, "number of entries", 0, no_limit);
    expect_end_of_line(rest, expected);
    check_size(header.rows, header.columns);
    if (header.mirror != Mirror::nothing && header.rows != header.columns) {
        lines.fail("found {} and {}; expected a square matrix, because the banner says that it is symmetric",
                   counted(header.rows, "row"), counted(header.columns, "column"));
    }
    if (array) header.entries = places_in_array(header);
    check_size(header.rows, header.columns, header.entries);
}

MatrixMarketHeader read_matrix_market_header(LineReader& lines) {
    return lines.with_place([&] {
        MatrixMarketHeader header;
        read_banner(lines, header);
        read_size(lines, header);
        return header;
    });
}

// ---- the fast path: digits, blanks, digits, blanks, a number ----

// Each function stops at the newline that ends a block, and returns null to leave the line to the slow parser below.

bool is_space_or_tab(char c) { return c == ' ' || c == '\t'; }

const char* skip_blanks(const char* at) {
    while (is_space_or_tab(*at)) ++at;
    return at;
}

const char* end_of_line(const char* at) {
    at = skip_blanks(at);
    if (*at == '\r') ++at;
    return *at == '\n' ? at + 1 : nullptr;
}

const char* take_long_number(const char* at, std::int64_t& number) {
    constexpr std::ptrdiff_t surely_fit = 15;  // digits that also fit f64
    const char* begin = at;
    number = 0;
    for (; *at >= '0' && *at <= '9'; ++at) {
        if (at - begin == surely_fit) return nullptr;
        number = 10 * number + (*at - '0');
    }
    return at == begin ? nullptr : at;
}

// Converts up to seven digits at once, in one word of eight bytes, because a loop over digits of numbers of varying length
// spends most of its time on mispredicted branches. The first character is in the lowest byte.
[[gnu::always_inline]] inline const char* take_digits(const char* at, const char* end, std::int64_t& number) {
    static_assert(std::endian::native == std::endian::little);
    std::uint64_t digits = 0;
    if (end - at < std::ptrdiff_t{sizeof(digits)}) return take_long_number(at, number);
    std::memcpy(&digits, at, sizeof(digits));
    digits ^= 0x3030303030303030U;
    const std::uint64_t others = ((digits + 0x7676767676767676U) | digits) & 0x8080808080808080U;  // bytes above 9
    const int count = others == 0 ? 8 : std::countr_zero(others) / 8;
    if (count == 0) return nullptr;
    if (count == 8) return take_long_number(at, number);
    digits <<= 8 * (8 - count);  // leading zeros
    digits = digits * 10 + (digits >> 8);
    number = static_cast<std::int64_t>((((digits & 0x000000FF000000FFU) * (100 + (std::uint64_t{1000000} << 32))) +
                                        (((digits >> 16) & 0x000000FF000000FFU) * (1 + (std::uint64_t{10000} << 32)))) >>
                                       32);
    return at + count;
}

/// The text of an index of up to seven digits, with the character behind it, and the index. Lists are mostly in the order of
/// rows or columns, so that one index of a line is that of the line before, and need not be converted again.
struct KnownIndex {
    std::uint64_t text = 1;  // no text equals it under this mask
    std::uint64_t mask = 0;
    std::ptrdiff_t digits = 0;
    Index index = 0;
};

[[gnu::always_inline]] inline const char* take_index(const char* at, const char* end, std::int64_t count, KnownIndex& known,
                                                     Index& index) {
    at = skip_blanks(at);
    std::uint64_t text = 0;
    const bool is_long = end - at >= std::ptrdiff_t{sizeof(text)};
    if (is_long) {
        std::memcpy(&text, at, sizeof(text));
        if ((text & known.mask) == known.text) {
            index = known.index;
            return at + known.digits;
        }
    }
    std::int64_t number = 0;
    const char* const behind = take_digits(at, end, number);
    if (behind == nullptr || number < 1 || number > count) return nullptr;
    index = static_cast<Index>(number - 1);
    if (const std::ptrdiff_t digits = behind - at; is_long && digits < std::ptrdiff_t{sizeof(text)}) {
        const std::uint64_t mask = ~std::uint64_t{0} >> (8 * (7 - digits));
        known = {text & mask, mask, digits, index};
    }
    return behind;
}

/// The indices of the last line.
struct KnownIndices {
    KnownIndex row;
    KnownIndex column;
};

template <MatrixMarketField field>
const char* take_value(const char* at, const char* end, double& value) {
    at = skip_blanks(at);
    if constexpr (field == MatrixMarketField::real) {
        const auto [behind, error] = std::from_chars(at, end, value);
        return error == std::errc{} ? behind : nullptr;
    }
    std::int64_t number = 0;
    const bool negative = *at == '-';
    at = take_digits(negative ? at + 1 : at, end, number);
    value = negative ? -static_cast<double>(number) : static_cast<double>(number);
    return at;
}

/// Returns the beginning of the next line, or null to leave this one to the slow parser.
template <MatrixMarketFormat format, MatrixMarketField field>
const char* take_entry(const char* at, const char* end, const MatrixMarketHeader& header, KnownIndices& known, Entry& entry) {
    if constexpr (format == MatrixMarketFormat::coordinate) {
        at = take_index(at, end, header.rows, known.row, entry.row);
        if (at == nullptr || !is_space_or_tab(*at)) return nullptr;
        at = take_index(at, end, header.columns, known.column, entry.column);
        if (at == nullptr) return nullptr;
        if constexpr (field == MatrixMarketField::pattern) {
            entry.value = 1;
            return end_of_line(at);
        }
        if (!is_space_or_tab(*at)) return nullptr;
    }
    at = take_value<field>(at, end, entry.value);
    return at == nullptr ? nullptr : end_of_line(at);
}

// ---- the slow path: any line, with error messages ----

double parse_value(std::string_view word, MatrixMarketField field, EntryBlock& block) {
    if (field == MatrixMarketField::integer && word.find_first_not_of("+-0123456789") != std::string_view::npos) {
        throw LineError{
            fmt::format("found the value {}; expected an integer, because the banner says integer", in_quotes(word))};
    }
    const auto parsed = parse_real(word);
    if (!parsed) throw LineError{why_not_real(word)};
    if (field == MatrixMarketField::integer && !is_exact_integer(word, *parsed) && block.rounded++ == 0) {
        block.first_rounded_line = block.lines;
    }
    return *parsed;
}

Entry parse_entry(std::string_view line, const MatrixMarketHeader& header, EntryBlock& block) {
    Entry entry;
    if (header.format == MatrixMarketFormat::array) {
        entry.value = parse_value(next_word(line), header.field, block);
        expect_end_of_line(line, "one value per line of an array");
        return entry;
    }
    entry.row = static_cast<Index>(take_integer(line, "row", 1, header.rows) - 1);
    entry.column = static_cast<Index>(take_integer(line, "column", 1, header.columns) - 1);
    if (header.field == MatrixMarketField::pattern) {
        entry.value = 1;
        expect_end_of_line(line, "only a row and a column, because the banner says pattern");
    } else {
        entry.value = parse_value(next_word(line), header.field, block);
        expect_end_of_line(line, "only a row, a column and a value");
    }
    return entry;
}

// ---- the file ----

void check_place(const Entry& entry, const MatrixMarketHeader& header, EntryBlock& block) {
    if (header.mirror == Mirror::nothing || header.format == MatrixMarketFormat::array) return;
    if (entry.row != entry.column) {
        ++(entry.row < entry.column ? block.above : block.below);
    } else if (header.mirror == Mirror::negated && !(entry.value == 0)) {
        throw LineError{"found a diagonal entry in a skew-symmetric matrix; expected entries off the diagonal"};
    }
}

/// The shortest line of an entry: "1 1", or "1" in an array, and the newline.
std::size_t shortest_line(const MatrixMarketHeader& header) { return header.format == MatrixMarketFormat::array ? 2 : 4; }

template <MatrixMarketFormat format, MatrixMarketField field>
void parse_lines(std::string_view text, const MatrixMarketHeader& header, EntryStore& store, EntryBlock& block) {
    const char* const end = text.data() + text.size();
    const std::span<Entry> room = store.take(text.size() / shortest_line(header) + 1);
    KnownIndices known;
    std::size_t count = 0;
    const auto keep = [&] {
        block.entries = room.first(count);
        store.give_back(room.subspan(count));
    };
    try {
        for (const char* at = text.data(); at != end; ++block.lines) {
            Entry entry;
            const char* next = take_entry<format, field>(at, end, header, known, entry);
            if (next == nullptr) {
                const auto* newline = static_cast<const char*>(std::memchr(at, '\n', end - at));
                const std::string_view line(at, newline - at);
                at = newline + 1;
                if (!has_content(line)) continue;
                entry = parse_entry(line, header, block);
            } else {
                at = next;
            }
            check_place(entry, header, block);
            block.item_lines.add(static_cast<std::int64_t>(count), block.lines);
            room[count++] = entry;
        }
    } catch (const LineError&) {
        keep();
        throw;
    }
    keep();
}

using ParseLines = void (*)(std::string_view, const MatrixMarketHeader&, EntryStore&, EntryBlock&);

template <MatrixMarketFormat format>
ParseLines parser_of(MatrixMarketField field) {
    switch (field) {
        case MatrixMarketField::integer: return parse_lines<format, MatrixMarketField::integer>;
        case MatrixMarketField::pattern: return parse_lines<format, MatrixMarketField::pattern>;
        case MatrixMarketField::real: break;
    }
    return parse_lines<format, MatrixMarketField::real>;
}

ParseLines parser_of(const MatrixMarketHeader& header) {
    return header.format == MatrixMarketFormat::array ? parser_of<MatrixMarketFormat::array>(header.field)
                                                      : parser_of<MatrixMarketFormat::coordinate>(header.field);
}

/// Compares the number of entries with the size line.
void check_count(LineReader& lines, const MatrixMarketHeader& header, const std::deque<EntryBlock>& blocks) {
    Offset read = 0;
    for (const EntryBlock& block : blocks) {
        const auto there = static_cast<Offset>(block.entries.size());
        if (there > header.entries - read) {
            lines.fail_at(block.first_line + block.item_lines.line_of(header.entries - read),
                          fmt::format("found a further entry; expected {}, as the size line says", header.entries));
        }
        read += there;
        check_outcome(lines, block);
        lines.count(block.lines);
    }
    if (lines.next() || read < header.entries) {
        lines.fail("found the end of the file after {} of {}; expected as many as the size line says", read,
                   counted(header.entries, "entry"));
    }
}

/// Assigns rows and columns to the values of an array, which are listed by columns; a symmetric array lists the lower triangle.
void place_values(const MatrixMarketHeader& header, std::deque<EntryBlock>& blocks) {
    const auto first_row = [&header](Index column) {
        return header.mirror == Mirror::nothing ? 0 : header.mirror == Mirror::same ? column : column + 1;
    };
    Index column = 0;
    Index row = first_row(column);
    for (EntryBlock& block : blocks) {
        for (Entry& entry : block.entries) {
            entry.row = row++;
            entry.column = column;
            if (row == header.rows) row = first_row(++column);
        }
    }
}

/// Refuses a symmetric file with all entries of both triangles, because mirroring would double them.
void check_one_triangle(const LineReader& lines, const std::deque<EntryBlock>& blocks, const CsrMatrix& matrix) {
    Offset above = 0;
    Offset below = 0;
    for (const EntryBlock& block : blocks) {
        above += block.above;
        below += block.below;
    }
    if (above == 0 || above != below) return;
    Offset off_diagonal = 0;
    for (Index row = 0; row < matrix.rows; ++row) {
        for (const Index column : matrix.row_columns(row)) off_diagonal += column == row ? 0 : 1;
    }
    if (off_diagonal == above + below) {
        lines.fail("found both triangles of a symmetric matrix; expected one triangle, or 'general' in the banner");
    }
}

/// Notes how many integers were rounded.
void note_rounded(const LineReader& lines, const std::deque<EntryBlock>& blocks) {
    Offset rounded = 0;
    for (const EntryBlock& block : blocks) rounded += block.rounded;
    const auto first = std::ranges::find_if(blocks, [](const EntryBlock& block) { return block.rounded > 0; });
    if (first == blocks.end()) return;
    lines.note(first->first_line + first->first_rounded_line,
               fmt::format("{} above 2^53 that f64 does not contain {} rounded, the first in this line",
                           counted(rounded, "integer"), rounded == 1 ? "is" : "are"));
}

ClaimedSize claimed_size(const MatrixMarketHeader& header) {
    return {header.rows, header.entries, header.mirror == Mirror::nothing ? header.entries : doubled(header.entries)};
}

}  // namespace

CsrMatrix read_matrix_market(LineReader& lines) {
    const MatrixMarketHeader header = read_matrix_market_header(lines);
    ReadingMemory memory(lines.name(), claimed_size(header), shortest_line(header), lines.most_bytes());
    EntryStore store(lines.most_bytes() / shortest_line(header) + 1);
    const ParseLines parse_text = parser_of(header);
    std::atomic<Offset> read = 0;
    auto blocks = parse_blocks<EntryBlock>(lines, [&](std::string_view text, EntryBlock& block) {
        parse_text(text, header, store, block);
        memory.take(block.entries.size() * sizeof(Entry) + block.item_lines.bytes());
        return (read += static_cast<Offset>(block.entries.size())) <= header.entries;
    });
    check_count(lines, header, blocks);
    if (header.format == MatrixMarketFormat::array) place_values(header, blocks);
    memory.require_matrix(claimed_size(header).nonzeros);
    std::vector<std::span<const Entry>> pieces;
    for (const EntryBlock& block : blocks) pieces.emplace_back(block.entries);
    CsrMatrix matrix =
        csr_from_entries(static_cast<Index>(header.rows), static_cast<Index>(header.columns), pieces, header.mirror);
    check_one_triangle(lines, blocks, matrix);
    note_rounded(lines, blocks);
    return matrix;
}

}  // namespace workbench
