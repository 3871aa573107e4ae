#include "pipeline/input/metis_graph.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "pipeline/input/line_blocks.hpp"
#include "pipeline/input/reading_memory.hpp"
#include "pipeline/input/size_check.hpp"
#include "pipeline/input/words.hpp"

namespace workbench {
namespace {

struct Header {
    std::int64_t vertices = 0;
    std::int64_t neighbours = 0;  // twice the edges
    bool vertex_sizes = false;
    std::int64_t vertex_weights = 0;  // how many a vertex has
    bool edge_weights = false;

    [[nodiscard]] bool words_in_every_line() const { return vertex_sizes || vertex_weights > 0; }
};

constexpr std::int64_t none = -1;

/// Vertices are numbered from 0 in the block, until place_blocks.
struct VertexBlock : BlockOutcome {
    std::int64_t vertices = 0;
    std::vector<Entry> entries;
    std::int64_t last_with_words = none;
    std::int64_t first_without_words = none;
};

bool is_comment(std::string_view line) { return line.starts_with('%'); }

bool is_number(std::string_view word) {
    return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

// ---- the first line ----

std::int64_t read_count(const LineReader& lines, std::string_view& rest, const char* what, std::int64_t most) {
    const std::string_view word = next_word(rest);
    const auto count = parse_integer(word);
    if (!count || *count < 0 || *count > most) {
        lines.fail(fmt::format("found {} for the {}; expected an integer from 0 to {}", in_quotes(word), what, most));
    }
    return *count;
}

/// Three digits: vertices have sizes, vertices have weights, edges have weights. Those in front may be left out.
void read_flags(const LineReader& lines, std::string_view word, Header& header) {
    if (word.size() > 3 || word.find_first_not_of("01") != std::string_view::npos) {
        lines.fail(fmt::format("found the format {}; expected up to three digits, each 0 or 1", in_quotes(word)));
    }
    const std::string flags = std::string(3 - word.size(), '0') + std::string(word);
    header.vertex_sizes = flags[0] == '1';
    header.vertex_weights = flags[1] == '1' ? 1 : 0;
    header.edge_weights = flags[2] == '1';
}

Header read_header(LineReader& lines) {
    constexpr const char* expected =
        "the numbers of vertices and of edges, then the format and the number of weights, or neither";
    bool there = false;
    do {
        there = lines.next();
    } while (there && is_comment(lines.line()));
    if (!there) lines.fail(fmt::format("found the end of the file; expected {}", expected));
    std::string_view rest = lines.line();
    Header header;
    header.vertices = read_count(lines, rest, "number of vertices", std::numeric_limits<Index>::max());
    header.neighbours = 2 * read_count(lines, rest, "number of edges", std::numeric_limits<Offset>::max() / 2);
    read_flags(lines, next_word(rest), header);
    if (std::string_view more = rest; !next_word(more).empty()) {
        const std::int64_t weights = read_count(lines, rest, "number of weights", std::numeric_limits<Index>::max());
        if (weights > 0 && header.vertex_weights == 0) {
            lines.fail(
                fmt::format("found {} weights a vertex, but a format without any; expected 1 as its second digit", weights));
        }
        if (weights > 0) header.vertex_weights = weights;
    }
    if (const std::string_view more = next_word(rest); !more.empty()) {
        lines.fail(fmt::format("found {} at the end of the line; expected {}", in_quotes(more), expected));
    }
    if (const auto reason = reason_to_refuse_size(header.vertices, header.vertices, header.neighbours)) lines.fail(*reason);
    return header;
}

// ---- the lines of the vertices ----

std::int64_t take_number(std::string_view& rest, const char* what, std::int64_t least, std::int64_t most) {
    const std::string_view word = next_word(rest);
    const auto number = parse_integer(word);
    if (number && *number >= least && *number <= most) return *number;
    if (word.empty()) throw LineError{fmt::format("found the end of the line; expected the {}", what)};
    if (most < std::numeric_limits<std::int64_t>::max()) {
        throw LineError{fmt::format("found the {} {}; expected an integer from {} to {}", what, in_quotes(word), least, most)};
    }
    throw LineError{fmt::format("found the {} {}; expected an integer, {} or greater", what, in_quotes(word), least)};
}

void parse_vertex(std::string_view line, const Header& header, VertexBlock& block) {
    constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
    std::string_view rest = line;
    if (next_word(rest).empty()) {
        if (block.first_without_words == none) block.first_without_words = block.vertices;
        return;
    }
    block.last_with_words = block.vertices;
    rest = line;
    if (header.vertex_sizes) take_number(rest, "vertex size", 0, any);
    for (std::int64_t i = 0; i < header.vertex_weights; ++i) take_number(rest, "vertex weight", 0, any);
    for (std::string_view more = rest; !next_word(more).empty(); more = rest) {
        const std::int64_t neighbour = take_number(rest, "neighbour", 1, header.vertices);
        const std::int64_t weight = header.edge_weights ? take_number(rest, "edge weight", 1, any) : 1;
        block.entries.push_back(
            {static_cast<Index>(block.vertices), static_cast<Index>(neighbour - 1), static_cast<double>(weight)});
    }
}

void parse_vertices(std::string_view text, const Header& header, VertexBlock& block) {
    while (!text.empty()) {
        const std::size_t length = text.find('\n');
        const std::string_view line = text.substr(0, length);
        if (!is_comment(line)) {
            block.item_lines.add(block.vertices, block.lines);
            parse_vertex(line, header, block);
            ++block.vertices;
        }
        ++block.lines;
        text.remove_prefix(length + 1);
    }
    block.entries.shrink_to_fit();
}

// ---- the file ----

/// Where a vertex of the graph stands.
std::int64_t line_of(const std::deque<VertexBlock>& blocks, std::int64_t vertex) {
    for (const VertexBlock& block : blocks) {
        if (vertex < block.vertices) return block.first_line + block.item_lines.line_of(vertex);
        vertex -= block.vertices;
    }
    return 0;
}

void check_entry(const LineReader& lines, const VertexBlock& block, std::int64_t first_vertex, const Entry& entry) {
    if (first_vertex + entry.row != entry.column) return;
    lines.fail_at(block.first_line + block.item_lines.line_of(entry.row),
                  fmt::format("found vertex {} as its own neighbour; expected edges between two vertices", entry.column + 1));
}

/// A block of which the lines belong to the vertices from `first_vertex` on, with the vertices' own numbers after it.
void place_block(const LineReader& lines, const Header& header, std::int64_t first_vertex, Offset neighbours_before,
                 VertexBlock& block) {
    const auto fail_at_vertex = [&](std::int64_t vertex, const std::string& what) {
        lines.fail_at(block.first_line + block.item_lines.line_of(vertex), what);
    };
    if (first_vertex + block.last_with_words >= header.vertices) {
        fail_at_vertex(block.last_with_words,
                       fmt::format("found a line behind the last vertex; expected {} vertices", header.vertices));
    }
    if (header.words_in_every_line() && block.first_without_words != none &&
        first_vertex + block.first_without_words < header.vertices) {
        fail_at_vertex(block.first_without_words, "found an empty line; expected the size or weights of a vertex");
    }
    const auto room = static_cast<std::size_t>(header.neighbours - neighbours_before);
    if (block.entries.size() > room) {
        fail_at_vertex(block.entries[room].row,
                       fmt::format("found more than {} neighbours up to here; expected {}, two for each edge of the first line",
                                   header.neighbours, header.neighbours));
    }
    for (Entry& entry : block.entries) {
        check_entry(lines, block, first_vertex, entry);
        entry.row = static_cast<Index>(first_vertex + entry.row);
    }
    check_outcome(lines, block);
}

void place_blocks(LineReader& lines, const Header& header, std::deque<VertexBlock>& blocks) {
    std::int64_t vertices = 0;
    Offset neighbours = 0;
    for (VertexBlock& block : blocks) {
        place_block(lines, header, vertices, neighbours, block);
        vertices += block.vertices;
        neighbours += static_cast<Offset>(block.entries.size());
        lines.count(block.lines);
    }
    if (lines.next() || vertices < header.vertices) {
        lines.fail(fmt::format("found the end of the file after {} of {} vertices; expected a line for each", vertices,
                               header.vertices));
    }
    if (neighbours < header.neighbours) {
        lines.fail(fmt::format("found {} neighbours in all; expected {}, two for each edge of the first line", neighbours,
                               header.neighbours));
    }
}

void check_no_edge_twice(const LineReader& lines, const std::deque<VertexBlock>& blocks, const CsrMatrix& matrix) {
    std::vector<Offset> given(matrix.rows);
    for (const VertexBlock& block : blocks) {
        for (const Entry& entry : block.entries) ++given[entry.row];
    }
    for (Index row = 0; row < matrix.rows; ++row) {
        if (given[row] == matrix.row_length(row)) continue;
        lines.fail_at(line_of(blocks, row), fmt::format("found a neighbour of vertex {} twice; expected once", row + 1));
    }
}

[[noreturn]] void fail_with_one_end(const LineReader& lines, const std::deque<VertexBlock>& blocks, Index from, Index to) {
    lines.fail_at(
        line_of(blocks, from),
        fmt::format("found {} among the neighbours of vertex {}, but not {} among those of vertex {}; expected each edge "
                    "at both of its ends",
                    to + 1, from + 1, from + 1, to + 1));
}

void check_both_ends(const LineReader& lines, const std::deque<VertexBlock>& blocks, const CsrMatrix& matrix) {
    const CsrMatrix other = transpose(matrix);
    for (Index row = 0; row < matrix.rows; ++row) {
        const auto here = matrix.row_columns(row);
        const auto there = other.row_columns(row);
        for (std::size_t i = 0; i < std::max(here.size(), there.size()); ++i) {
            if (i == there.size() || (i < here.size() && here[i] < there[i])) fail_with_one_end(lines, blocks, row, here[i]);
            if (i == here.size() || there[i] < here[i]) fail_with_one_end(lines, blocks, there[i], row);
            const double weight = matrix.values[matrix.row_offsets[row] + static_cast<Offset>(i)];
            const double weight_there = other.values[other.row_offsets[row] + static_cast<Offset>(i)];
            if (weight == weight_there) continue;
            lines.fail_at(
                line_of(blocks, row),
                fmt::format("found the weight {} for the edge from vertex {} to {}, and {} for the way back; expected "
                            "one weight",
                            weight, row + 1, here[i] + 1, weight_there));
        }
    }
}

}  // namespace

bool is_metis_graph(std::string_view start) {
    while (is_comment(start)) {
        const auto newline = start.find('\n');
        if (newline == std::string_view::npos) return false;
        start.remove_prefix(newline + 1);
    }
    std::string_view line = start.substr(0, start.find('\n'));
    int numbers = 0;
    for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
        if (!is_number(word) || ++numbers > 4) return false;
    }
    return numbers >= 2;
}

CsrMatrix read_metis_graph(LineReader& lines) {
    constexpr std::size_t longest_line = std::size_t{1} << 31;  // of a vertex with many neighbours
    lines.allow_lines_of(longest_line);
    const Header header = read_header(lines);
    constexpr std::uintmax_t shortest_neighbour = 2;
    ReadingMemory memory(lines.name(), {header.vertices, header.neighbours, doubled(header.neighbours)}, shortest_neighbour,
                         lines.most_bytes());
    std::atomic<Offset> read = 0;
    auto blocks = parse_blocks<VertexBlock>(lines, [&](std::string_view text, VertexBlock& block) {
        parse_vertices(text, header, block);
        memory.take(block.entries.size() * sizeof(Entry) + block.item_lines.bytes());
        return (read += static_cast<Offset>(block.entries.size())) <= header.neighbours;
    });
    place_blocks(lines, header, blocks);
    memory.require_matrix(2 * header.neighbours);  // once more for the way back
    std::vector<std::span<const Entry>> pieces;
    for (const VertexBlock& block : blocks) pieces.emplace_back(block.entries);
    const auto vertices = static_cast<Index>(header.vertices);
    CsrMatrix matrix = csr_from_entries(vertices, vertices, pieces, Mirror::nothing);
    if (matrix.nonzeros() < header.neighbours) check_no_edge_twice(lines, blocks, matrix);
    check_both_ends(lines, blocks, matrix);
    return matrix;
}

}  // namespace workbench
