#include "core/input/foreign_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "core/input/npz/npz_archive.hpp"
#include "core/text/words.hpp"

namespace workbench {
namespace {

struct Signature {
    std::string_view bytes;
    std::string_view found;
    std::string_view expected = "";
};

using namespace std::string_view_literals;

constexpr const char* unpacked = "the unpacked file, or one that gzip, xz or zstd has compressed";

constexpr std::array signatures{
    Signature{"PK\x03\x04"sv, "a zip archive", unpacked},
    Signature{"BZh"sv, "a bzip2 file", unpacked},
    Signature{"\x5d\0\0"sv, "an lzma file", unpacked},
    Signature{"LZIP"sv, "an lzip file", unpacked},
    Signature{"\x89LZO"sv, "an lzop file", unpacked},
    Signature{"\x04\x22\x4d\x18"sv, "an lz4 file", unpacked},
    Signature{"\x02\x21\x4c\x18"sv, "an lz4 file", unpacked},
    Signature{"\xff\x06\0\0sNaPpY"sv, "a snappy file", unpacked},
    Signature{"\x1f\x9d"sv, "a file of the program compress (.Z)", unpacked},
    Signature{"\x1f\xa0"sv, "a file of the program compress (.Z)", unpacked},
    Signature{"7z\xbc\xaf\x27\x1c"sv, "a 7z archive", unpacked},
    Signature{"Rar!\x1a\x07"sv, "a rar archive", unpacked},
    Signature{"version https://git-lfs.github.com/spec/"sv, "a pointer of Git LFS, not the file",
              "the file itself: git lfs pull"},
    Signature{"/annex/objects/"sv, "a pointer of git-annex, not the file", "the file itself: git annex get"},
    Signature{"\0\x12\x7b\x50"sv, "a binary matrix of PETSc",
              "a Matrix Market file, or a .npz (in Python: petsc4py, then scipy.sparse.save_npz)"},
    Signature{"PAR1"sv, "a Parquet file"},
    Signature{"ARROW1"sv, "an Arrow file"},
    Signature{"%PDF"sv, "a PDF file"},
    Signature{"<?xml"sv, "an XML document, perhaps the error of a server", "the file itself"},
    Signature{"{"sv, "JSON"},
};

/// Source: The MathWorks, "MAT-File Format", level 4: five integers, the first of which is 1000 M + 100 O + 10 P + T (byte
/// order, 0, type of the numbers, kind of the matrix), and a name of the length that the last one says.
bool is_matlab_4(std::string_view start) {
    std::array<std::uint32_t, 5> header{};
    if (start.size() < sizeof(header)) return false;
    std::memcpy(header.data(), start.data(), sizeof(header));
    constexpr std::uint32_t largest = 4052;
    if (header[0] > largest) {
        for (std::uint32_t& number : header) number = __builtin_bswap32(number);
    }
    const auto [type, rows, columns, imaginary, name_length] = header;
    if (type > largest || type / 100 % 10 != 0 || type / 10 % 10 > 5 || type % 10 > 2 || imaginary > 1) return false;
    const std::string_view name = start.substr(sizeof(header), name_length);
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    return name_length > 1 && name.size() == name_length && is_letter(name[0]) && name.find('\0') == name_length - 1;
}

bool is_html(std::string_view start) {
    start.remove_prefix(std::min(start.find_first_not_of(" \t\r\n"), start.size()));
    const std::string begin = lower_case(start.substr(0, 14));
    return begin.starts_with("<!doctype html") || begin.starts_with("<html") || begin.starts_with("<head");
}

struct Lines {
    std::vector<std::vector<std::string_view>> words;  // of lines that are neither blank nor comments; at most five of each
    std::size_t blank = 0;
};

Lines lines_in(std::string_view text, bool is_whole) {
    constexpr std::size_t most_words = 5;
    Lines lines;
    while (!text.empty()) {
        const auto newline = text.find('\n');
        if (newline == std::string_view::npos && !is_whole) break;
        std::string_view line = text.substr(0, newline);
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        std::vector<std::string_view> words;
        for (auto word = next_word(line); !word.empty() && words.size() < most_words; word = next_word(line)) {
            words.push_back(word);
        }
        if (words.empty()) ++lines.blank;
        if (!words.empty() && words[0][0] != '%' && words[0][0] != '#') lines.words.push_back(std::move(words));
    }
    return lines;
}

/// Lines that begin with two integers.
struct Pairs {
    std::size_t words = 0;  // of each line, 0 if they differ or are not numbers
    std::int64_t smallest = no_limit;
    std::int64_t largest_first = 0;
    std::int64_t largest_second = 0;
    bool fractions = false;  // in a third word
};

Pairs pairs_in(const std::vector<std::vector<std::string_view>>& lines, std::size_t begin) {
    Pairs pairs;
    for (std::size_t i = begin; i < lines.size(); ++i) {
        const auto& words = lines[i];
        const auto first = parse_integer(words[0]);
        const auto second = words.size() > 1 ? parse_integer(words[1]) : std::nullopt;
        const bool fits = (words.size() == 2 || words.size() == 3) && (i == begin || words.size() == pairs.words);
        if (!fits || !first || !second || (words.size() == 3 && !parse_real(words[2]))) return {};
        pairs.words = words.size();
        pairs.smallest = std::min({pairs.smallest, *first, *second});
        pairs.largest_first = std::max(pairs.largest_first, *first);
        pairs.largest_second = std::max(pairs.largest_second, *second);
        pairs.fractions = pairs.fractions || (words.size() == 3 && words[2].find_first_of(".eE") != std::string_view::npos);
    }
    return pairs;
}

/// True if the first line is numbers with commas between them, or the second, below a head with commas.
bool is_table_with_commas(const std::vector<std::vector<std::string_view>>& lines) {
    const auto has_comma = [](std::string_view word) { return word.find_first_of(",;") != std::string_view::npos; };
    const auto is_row = [&](std::size_t i) {
        return i < lines.size() && has_comma(lines[i][0]) && lines[i][0].find_first_of("0123456789.-") == 0;
    };
    return is_row(0) || (is_row(1) && std::ranges::any_of(lines[0], has_comma));
}

std::string banner_of(const Pairs& pairs) {
    return fmt::format("'%%MatrixMarket matrix coordinate {} general'", pairs.words == 2 ? "pattern" : "real");
}

}  // namespace

std::optional<ForeignFile> foreign_file(std::string_view start) {
    for (const Signature& each : signatures) {
        if (start.starts_with(each.bytes)) return ForeignFile{std::string(each.found), std::string(each.expected)};
    }
    if (is_html(start)) return ForeignFile{"an HTML page", "the file itself, not a page about it"};
    if (is_npy(start)) return ForeignFile{"a .npy with one array", "a .npz of scipy.sparse.save_npz"};
    if (is_matlab_4(start)) return ForeignFile{"a MATLAB file of version 4", "version 5 to 7.3 (in MATLAB: save -v7)"};
    for (std::string_view rest = start; !rest.empty();) {  // DIMACS: comments after c, then a line p
        std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        const std::string_view word = next_word(line);
        if (word == "p" && !next_word(line).empty()) {
            return ForeignFile{"a DIMACS graph",
                               "a Matrix Market file: '%%MatrixMarket matrix coordinate real general', a line 'ROWS "
                               "COLUMNS ENTRIES', and the lines of the edges without their first letter"};
        }
        if (word != "c" && !word.empty()) break;
    }
    if (is_table_with_commas(lines_in(start, true).words)) {
        return ForeignFile{
            "a table of numbers with commas (CSV)",
            "a Matrix Market file: '%%MatrixMarket matrix coordinate real general', a line 'ROWS COLUMNS ENTRIES', and "
            "blanks instead of commas"};
    }
    return std::nullopt;
}

std::optional<ForeignFile> without_banner(std::string_view start, bool is_whole) {
    const auto [lines, blank] = lines_in(start, is_whole);
    if (lines.size() < 2) return std::nullopt;
    std::vector<std::int64_t> sizes;
    for (const std::string_view word : lines[0]) sizes.push_back(parse_integer(word).value_or(-1));
    const auto is_size = [](std::int64_t size) { return size >= 0; };
    const Pairs body = pairs_in(lines, 1);
    if (sizes.size() == 3 && std::ranges::all_of(sizes, is_size) && body.words > 0 && body.smallest >= 0 &&
        body.largest_first <= sizes[0] && body.largest_second <= sizes[1] &&
        (body.fractions || !is_whole || std::cmp_equal(lines.size() - 1, sizes[2]))) {
        return ForeignFile{
            "the size and the entries of a Matrix Market file, but no banner",
            banner_of(body) + " as its first line (or integer or pattern; symmetric, if only one triangle is stored)"};
    }
    const Pairs edges = pairs_in(lines, 0);
    // A graph has a line per vertex behind the first line.
    const auto behind_first = static_cast<std::int64_t>(lines.size()) - 1;
    const bool has_line_per_vertex = behind_first <= sizes[0] && behind_first + static_cast<std::int64_t>(blank) >= sizes[0];
    const bool is_graph = edges.words > 0 && edges.smallest > 0 &&
                          std::max(edges.largest_first, edges.largest_second) <= sizes[0] && (!is_whole || has_line_per_vertex);
    if (edges.words > 0 && edges.smallest >= 0 && !is_graph) {
        return ForeignFile{
            "an edge list, but no banner",
            fmt::format("a Matrix Market file: {}, a line 'ROWS COLUMNS ENTRIES', and then the edges, whose vertices "
                        "count from 1",
                        banner_of(edges))};
    }
    return std::nullopt;
}

}  // namespace workbench
