#include "stages/beside/number_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "core/contract/errors.hpp"
#include "core/input/bytes/byte_source.hpp"
#include "core/input/npz/npz_archive.hpp"
#include "core/input/texts/line_reader.hpp"
#include "core/system/host_memory.hpp"
#include "core/text/words.hpp"

namespace workbench {
namespace {

constexpr std::string_view matrix_market_start = "%%MatrixMarket";

NumberList numbers_of_npy(const std::string& file, ByteSource& source) {
    const NpyArray array = read_npy(file, source);
    const bool column = array.shape.size() == 2 && array.shape[1] == 1;
    if (array.shape.size() != 1 && !column) {
        throw Unsuitable(fmt::format("{}: found an array of {}; expected 1", file, counted(array.shape.size(), "dimension")));
    }
    const auto count = static_cast<std::size_t>(array.size());
    require_host_memory(count * sizeof(std::int64_t), file);
    std::vector<std::int64_t> numbers(count);
    const bool known = with_integer_type(array.type, [&](auto number) {
        for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<std::int64_t>(item<decltype(number)>(array, i));
    });
    if (!known) {
        throw Unsuitable(
            fmt::format("{}: found values of type {}; expected integers, little-endian, as of numpy's astype(numpy.int64)",
                        file, array.type));
    }
    return {file, std::move(numbers)};
}

/// An integer, possibly written as a real number.
std::int64_t integer_of(std::string_view word, const LineReader& lines) {
    if (const std::optional<std::int64_t> integer = parse_integer(word)) return *integer;
    const std::optional<double> real = parse_real(word);
    if (real && std::trunc(*real) == *real && std::abs(*real) < 9e15) return static_cast<std::int64_t>(*real);
    lines.fail("found {}; expected an integer", in_quotes(word));
}

/// The size that a Matrix Market header declares.
std::size_t size_of_array(LineReader& lines) {
    std::string_view rest = lines.line();
    std::vector<std::string> words;
    for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest)) words.push_back(lower_case(word));
    if (words.size() != 5 || words[1] != "matrix" || words[2] != "array" || (words[3] != "integer" && words[3] != "real") ||
        words[4] != "general") {
        lines.fail("found {}; expected '%%MatrixMarket matrix array integer general'", in_quotes(lines.line(), 80));
    }
    while (lines.next()) {
        std::string_view line = lines.line();
        if (line.starts_with('%') || next_word(line).empty()) continue;
        line = lines.line();
        return lines.with_place([&] {
            const std::int64_t rows = take_integer(line, "size", 0, no_limit);
            (void)take_integer(line, "number of columns", 1, 1);
            expect_end_of_line(line, "a size and one column");
            return static_cast<std::size_t>(rows);
        });
    }
    lines.fail("found the end of the file; expected the size of the array");
}

NumberList numbers_of_text(const std::string& file, std::unique_ptr<ByteSource> source) {
    LineReader lines(file, std::move(source));
    std::vector<std::int64_t> numbers;
    std::vector<std::int64_t> line_of;
    std::optional<std::size_t> size;
    while (lines.next()) {
        std::string_view line = lines.line();
        if (lines.number() == 1 && line.starts_with(matrix_market_start)) {
            size = size_of_array(lines);
            continue;
        }
        const std::string_view word = next_word(line);
        if (word.empty() || word.front() == '#' || word.front() == '%') continue;
        numbers.push_back(integer_of(word, lines));
        line_of.push_back(lines.number());
        if (!next_word(line).empty()) lines.fail("found several numbers in a line; expected one");
    }
    if (size && *size != numbers.size()) {
        lines.fail("found {}; expected {}, as the header says", counted(numbers.size(), "number"), *size);
    }
    NumberList list(file, std::move(numbers));
    for (std::size_t i = 0; i < line_of.size(); ++i) list.note_line(i, line_of[i]);
    return list;
}

}  // namespace

std::string NumberList::where(std::size_t i) const {
    if (lines_.empty()) return fmt::format("{}: entry {}", file_, i);
    const auto after = std::upper_bound(lines_.begin(), lines_.end(), i,
                                        [](std::size_t entry, const EntryLine& line) { return entry < line.entry; });
    const EntryLine& line = *(after - 1);
    return fmt::format("{}:{}", file_, line.line + static_cast<std::int64_t>(i - line.entry));
}

void NumberList::note_line(std::size_t i, std::int64_t line) {
    if (!lines_.empty()) {
        const EntryLine& last = lines_.back();
        if (line - last.line == static_cast<std::int64_t>(i - last.entry)) return;
    }
    lines_.push_back({i, line});
}

NumberList read_numbers(const std::filesystem::path& path, const std::string& name) {
    try {
        std::unique_ptr<ByteSource> source = open_file(path, "a list of integers");
        constexpr std::size_t start_bytes = 16;
        Start start = look_at_start(source, start_bytes);
        if (const std::string_view compression = compression_of(start.bytes); !compression.empty()) {
            source = decompressed(std::move(source), compression);
            start = look_at_start(source, start_bytes);
        }
        if (is_npy(start.bytes)) return numbers_of_npy(name, *source);
        if (is_zip(start.bytes)) {
            throw Unsuitable(fmt::format("{}: found a zip archive; expected a list of integers: .npy, .mtx or text", name));
        }
        return numbers_of_text(name, std::move(source));
    } catch (const InputError& wrong) {
        std::string text = wrong.what();
        if (text.starts_with(path.string())) text.replace(0, path.string().size(), name);
        throw Unsuitable(text);
    }
}

}  // namespace workbench
