#include "core/input/texts/metis_graph.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "core/input/bytes/reading_memory.hpp"
#include "core/input/texts/entry_store.hpp"
#include "core/input/texts/line_blocks.hpp"
#include "core/text/words.hpp"

namespace workbench {
namespace {

struct MetisHeader {
    std::int64_t vertices = 0;
    std::int64_t neighbours = 0;  // twice the number of edges
    bool vertex_sizes = false;
    std::int64_t vertex_weights = 0;  // per vertex
    bool edge_weights = false;

    [[nodiscard]] bool words_in_every_line() const { return vertex_sizes || vertex_weights > 0; }
};

constexpr std::int64_t none = -1;
constexpr std::int64_t largest_weight = std::int64_t{1} << 53;  // up to which f64 contains all integers

/// Entries number the vertices of the block from 0 until place_blocks.
struct VertexBlock : BlockOutcome {
    std::int64_t vertices = 0;
    std::span<Entry> entries;
    std::int64_t last_with_words = none;
    std::int64_t first_without_words = none;
};

bool is_comment(std::string_view line) { return line.starts_with('%'); }

bool is_number(std::string_view word) {
    return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

// ---- the first line ----

/// Three flags: vertex sizes, vertex weights, edge weights. Leading zeros may be omitted.
void read_flags(const LineReader& lines, std::string_view word, MetisHeader& header) {
    if (word.size() > 3 || word.find_first_not_of("01") != std::string_view::npos) {
        lines.fail("found the format {}; expected up to three digits, each 0 or 1", in_quotes(word));
    }
    const std::string flags = std::string(3 - word.size(), '0') + std::string(word);
    header.vertex_sizes = flags[0] == '1';
    header.vertex_weights = flags[1] == '1' ? 1 : 0;
    header.edge_weights = flags[2] == '1';
}

MetisHeader read_metis_header(LineReader& lines) {
    while (lines.next() && is_comment(lines.line())) continue;
    std::string_view rest = lines.line();
    MetisHeader header;
    header.vertices = take_integer(rest, "number of vertices", 0, std::numeric_limits<Index>::max());
    header.neighbours = 2 * take_integer(rest, "number of edges", 0, std::numeric_limits<Offset>::max() / 2);
    read_flags(lines, next_word(rest), header);
    if (std::string_view more = rest; !next_word(more).empty()) {
        const std::int64_t weights = take_integer(rest, "number of weights", 0, std::numeric_limits<Index>::max());
        if (weights > 0 && header.vertex_weights == 0) {
            lines.fail("found {} per vertex and a format without any; expected 1 as its second digit",
                       counted(weights, "weight"));
        }
        if (weights > 0) header.vertex_weights = weights;
    }
    expect_end_of_line(rest, "the numbers of vertices and edges, optionally followed by the format and the number of weights");
    check_size(header.vertices, header.vertices, header.neighbours);
    return header;
}

// ---- the lines of the vertices ----

/// Takes blanks and then an integer of digits alone; 0: there is none, or the slow path must read it.
std::int64_t take_plain_number(const char*& at, const char* end) {
    constexpr std::ptrdiff_t surely_fit = 18;  // digits
    while (at < end && *at == ' ') ++at;
    const char* const begin = at;
    std::uint64_t number = 0;  // which may overflow
    for (; at < end && *at >= '0' && *at <= '9'; ++at) number = 10 * number + static_cast<std::uint64_t>(*at - '0');
    const bool is_plain = at - begin <= surely_fit && (at == end || *at == ' ');
    return is_plain ? static_cast<std::int64_t>(number) : 0;
}

/// Reads the lines of a block; `entries` of its room are written.
class VertexParser {
public:
    VertexParser(const MetisHeader& header, VertexBlock& block, std::span<Entry> room)
        : header_(header), block_(block), room_(room) {}

    void parse(std::string_view text) {
        while (!text.empty()) {
            const std::size_t length = text.find('\n');
            const std::string_view line = text.substr(0, length);
            if (!is_comment(line)) {
                block_.item_lines.add(block_.vertices, block_.lines);
                if (!take_plain_line(line)) parse_vertex(line);
                ++block_.vertices;
            }
            ++block_.lines;
            text.remove_prefix(length + 1);
        }
    }

    [[nodiscard]] std::size_t entries() const { return entries_; }

private:
    void add(std::int64_t neighbour, std::int64_t weight) {
        room_[entries_++] = {static_cast<Index>(block_.vertices), static_cast<Index>(neighbour - 1),
                             static_cast<double>(weight)};
    }

    /// Reads a line of neighbours alone, or returns false.
    bool take_plain_line(std::string_view line) {
        if (header_.words_in_every_line()) return false;
        const std::size_t before = entries_;
        const char* const end = line.data() + line.size();
        for (const char* at = line.data(); at < end;) {
            const std::int64_t neighbour = take_plain_number(at, end);
            const std::int64_t weight = header_.edge_weights ? take_plain_number(at, end) : 1;
            if (neighbour < 1 || neighbour > header_.vertices || weight < 1 || weight > largest_weight) {
                entries_ = before;
                return false;
            }
            add(neighbour, weight);
            while (at < end && *at == ' ') ++at;
        }
        if (entries_ == before) return false;
        block_.last_with_words = block_.vertices;
        return true;
    }

    void parse_vertex(std::string_view line) {
        std::string_view rest = line;
        if (next_word(rest).empty()) {
            if (block_.first_without_words == none) block_.first_without_words = block_.vertices;
            return;
        }
        block_.last_with_words = block_.vertices;
        rest = line;
        if (header_.vertex_sizes) take_integer(rest, "vertex size", 0, no_limit);
        for (std::int64_t i = 0; i < header_.vertex_weights; ++i) take_integer(rest, "vertex weight", 0, no_limit);
        for (std::string_view more = rest; !next_word(more).empty(); more = rest) {
            const std::int64_t neighbour = take_integer(rest, "neighbour", 1, header_.vertices);
            const std::int64_t weight = header_.edge_weights ? take_integer(rest, "edge weight", 1, largest_weight) : 1;
            add(neighbour, weight);
        }
    }

    const MetisHeader& header_;
    VertexBlock& block_;
    std::span<Entry> room_;
    std::size_t entries_ = 0;
};

constexpr std::size_t shortest_neighbour = 2;  // characters

void parse_vertices(std::string_view text, const MetisHeader& header, EntryStore& store, VertexBlock& block) {
    const std::span<Entry> room = store.take(text.size() / shortest_neighbour + 1);
    VertexParser parser(header, block, room);
    const auto keep = [&] {
        block.entries = room.first(parser.entries());
        store.give_back(room.subspan(parser.entries()));
    };
    try {
        parser.parse(text);
    } catch (const LineError&) {
        keep();
        throw;
    }
    keep();
}

// ---- the file ----

/// The line of a vertex of the graph.
std::int64_t line_of(const std::deque<VertexBlock>& blocks, std::int64_t vertex) {
    for (const VertexBlock& block : blocks) {
        if (vertex < block.vertices) return block.first_line + block.item_lines.line_of(vertex);
        vertex -= block.vertices;
    }
    return 0;
}

/// Checks a block whose first line is that of `first_vertex`, and replaces the block's vertex numbers by those of the graph.
void place_block(const LineReader& lines, const MetisHeader& header, std::int64_t first_vertex, Offset neighbours_before,
                 VertexBlock& block) {
    const auto fail_at_vertex = [&](std::int64_t vertex, const std::string& what) {
        lines.fail_at(block.first_line + block.item_lines.line_of(vertex), what);
    };
    if (first_vertex + block.last_with_words >= header.vertices) {
        fail_at_vertex(block.last_with_words,
                       fmt::format("found a line after the last vertex; expected {}", counted(header.vertices, "vertex")));
    }
    if (header.words_in_every_line() && block.first_without_words != none &&
        first_vertex + block.first_without_words < header.vertices) {
        fail_at_vertex(block.first_without_words, "found an empty line; expected the size or weights of a vertex");
    }
    const auto remaining = static_cast<std::size_t>(header.neighbours - neighbours_before);
    if (block.entries.size() > remaining) {
        fail_at_vertex(block.entries[remaining].row,
                       fmt::format("found more than {}; expected {}, two for each edge that the first line announces",
                                   counted(header.neighbours, "neighbour"), header.neighbours));
    }
    for (Entry& entry : block.entries) {
        if (first_vertex + entry.row == entry.column) {
            fail_at_vertex(entry.row, fmt::format("found vertex {} as its own neighbour; expected edges between two vertices",
                                                  entry.column + 1));
        }
        entry.row = static_cast<Index>(first_vertex + entry.row);
    }
    check_outcome(lines, block);
}

void place_blocks(LineReader& lines, const MetisHeader& header, std::deque<VertexBlock>& blocks) {
    std::int64_t vertices = 0;
    Offset neighbours = 0;
    for (VertexBlock& block : blocks) {
        place_block(lines, header, vertices, neighbours, block);
        vertices += block.vertices;
        neighbours += static_cast<Offset>(block.entries.size());
        lines.count(block.lines);
    }
    if (lines.next() || vertices < header.vertices) {
        lines.fail("found the end of the file after {} of {}; expected a line for each", vertices,
                   counted(header.vertices, "vertex"));
    }
    if (neighbours < header.neighbours) {
        lines.fail("found {} in total; expected {}, two for each edge that the first line announces",
                   counted(neighbours, "neighbour"), header.neighbours);
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
                    "at both ends",
                    to + 1, from + 1, from + 1, to + 1));
}

void check_both_ends(const LineReader& lines, const std::deque<VertexBlock>& blocks, const CsrMatrix& matrix) {
    const CsrMatrix other = transpose(matrix);
    const auto equal = [](const auto& a, const auto& b) {  // of the same size
        std::atomic<bool> found = true;
        for_pieces(a.size(), [&](std::size_t begin, std::size_t end) {
            if (!std::equal(a.data() + begin, a.data() + end, b.data() + begin)) found = false;
        });
        return found.load();
    };
    if (equal(matrix.row_offsets, other.row_offsets) && equal(matrix.column_indices, other.column_indices) &&
        equal(matrix.values, other.values)) {
        return;
    }
    for (Index row = 0; row < matrix.rows; ++row) {
        const auto here = matrix.row_columns(row);
        const auto there = other.row_columns(row);
        for (std::size_t i = 0; i < std::max(here.size(), there.size()); ++i) {
            if (i == there.size() || (i < here.size() && here[i] < there[i])) fail_with_one_end(lines, blocks, row, here[i]);
            if (i == here.size() || there[i] < here[i]) fail_with_one_end(lines, blocks, there[i], row);
            const double weight = matrix.values[matrix.row_offsets[row] + static_cast<Offset>(i)];
            const double weight_there = other.values[other.row_offsets[row] + static_cast<Offset>(i)];
            if (weight == weight_there) continue;
            lines.fail_at(line_of(blocks, row),
                          fmt::format("found the weight {} for the edge from vertex {} to {}, and {} in the other direction; "
                                      "expected the same weight",
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
    const MetisHeader header = lines.with_place([&] { return read_metis_header(lines); });
    ReadingMemory memory(lines.name(), {header.vertices, header.neighbours, doubled(header.neighbours)}, shortest_neighbour,
                         lines.most_bytes());
    EntryStore store(lines.most_bytes() / shortest_neighbour + 1);
    std::atomic<Offset> read = 0;
    auto blocks = parse_blocks<VertexBlock>(lines, [&](std::string_view text, VertexBlock& block) {
        parse_vertices(text, header, store, block);
        memory.take(block.entries.size() * sizeof(Entry) + block.item_lines.bytes());
        return (read += static_cast<Offset>(block.entries.size())) <= header.neighbours;
    });
    place_blocks(lines, header, blocks);
    memory.require_matrix(2 * header.neighbours);  // the matrix and its transpose
    std::vector<std::span<const Entry>> pieces;
    for (const VertexBlock& block : blocks) pieces.emplace_back(block.entries);
    const auto vertices = static_cast<Index>(header.vertices);
    CsrMatrix matrix = csr_from_entries(vertices, vertices, pieces, Mirror::nothing);
    if (matrix.nonzeros() < header.neighbours) check_no_edge_twice(lines, blocks, matrix);
    check_both_ends(lines, blocks, matrix);
    return matrix;
}

}  // namespace workbench
