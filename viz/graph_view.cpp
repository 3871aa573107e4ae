#include "viz/graph_view.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "viz/palette.hpp"

namespace workbench {
namespace {

/// The cuts of rows by which a graph is coloured.
const Cuts* cuts_of_rows(const StagedMatrix& staged) {
    for (const CutKind kind : {CutKind::partition, CutKind::row_block, CutKind::length_group}) {
        const Cuts* cuts = staged.find_cuts(kind);
        if (cuts != nullptr && cuts->count() > 1) return cuts;
    }
    return nullptr;
}

std::string_view plural_of(CutKind kind) {
    return kind == CutKind::partition ? "partitions" : kind == CutKind::row_block ? "row blocks" : "length groups";
}

/// The share of each row, if every row with nonzeros has all of them in one; empty otherwise. Rows without nonzeros are in the
/// last.
std::vector<Index> shares_of_rows(const StagedMatrix& staged) {
    if (staged.shares.size() < 2 || staged.has_tiles()) return {};
    const auto last = static_cast<Index>(staged.shares.size()) - 1;
    std::vector<Index> share_of_row(staged.matrix.rows, -1);
    for (Index share = 0; share <= last; ++share) {
        const ShareView view(staged.shares[share]);
        for (Index stored = 0; stored < view.row_count(); ++stored) {
            Index& known = share_of_row[view.row(stored)];
            if (view.length(stored) == 0) continue;
            if (known >= 0 && known != share) return {};
            known = share;
        }
    }
    std::replace(share_of_row.begin(), share_of_row.end(), -1, last);
    return share_of_row;
}

/// A hue for each piece: the first from its own on that no adjacent piece of a lower number has.
std::vector<std::size_t> hues_of_pieces(const GraphView& graph, const std::vector<Index>& pieces, Index count) {
    std::vector<std::array<Index, 2>> adjacent;
    for (const auto& [a, b] : graph.edges) {
        const auto [low, high] = std::minmax(pieces[a], pieces[b]);
        if (low != high) adjacent.push_back({high, low});
    }
    std::sort(adjacent.begin(), adjacent.end());
    std::vector<std::size_t> hue(count);
    auto next = adjacent.begin();
    for (Index piece = 0; piece < count; ++piece) {
        std::array<bool, hues.size()> used{};
        for (; next != adjacent.end() && (*next)[0] == piece; ++next) used.at(hue[(*next)[1]]) = true;
        const std::size_t own = static_cast<std::size_t>(piece) % hues.size();
        hue[piece] = own;
        for (std::size_t i = 0; i < hues.size() && used.at(hue[piece]); ++i) hue[piece] = (own + i + 1) % hues.size();
    }
    return hue;
}

void colour_by_pieces(const StagedMatrix& staged, const GraphView& graph, GraphColours& result) {
    const Cuts* cuts = cuts_of_rows(staged);
    const std::vector<Index> piece_of_row = cuts != nullptr ? cuts->pieces() : shares_of_rows(staged);
    if (piece_of_row.empty()) throw std::invalid_argument("the stage has no partitions, row blocks or length groups");
    result.pieces.resize(result.numbers.size());
    for (std::size_t i = 0; i < result.pieces.size(); ++i) result.pieces[i] = piece_of_row[result.numbers[i]];
    if (cuts == nullptr) {
        // The colours of the shares in the pattern.
        for (const Index piece : result.pieces)
            result.colours.push_back(hues.at(static_cast<std::size_t>(piece) % hues.size()).colour);
        result.name = fmt::format("rows of the {} shares", staged.shares.size());
        return;
    }
    const std::vector<std::size_t> hue = hues_of_pieces(graph, result.pieces, cuts->count());
    for (const Index piece : result.pieces) result.colours.push_back(hues.at(hue[piece]).colour);
    result.name = fmt::format("{} {}", cuts->count(), plural_of(cuts->kind));
}

/// The levels of all vertices, by a breadth-first search from the first row of each component.
std::vector<Index> levels_of_vertices(const StagedMatrix& staged, const GraphView& graph) {
    const Index rows = staged.matrix.rows;
    std::vector<std::vector<Index>> neighbours(rows);
    for (const auto& [a, b] : graph.edges) {
        neighbours[a].push_back(b);
        neighbours[b].push_back(a);
    }
    std::vector<Index> level(rows, -1);
    std::vector<Index> queue;
    for (const Index root : staged.row_order.old_of_new()) {
        if (level[root] >= 0) continue;
        level[root] = 0;
        queue.assign(1, root);
        for (std::size_t next = 0; next < queue.size(); ++next) {
            for (const Index neighbour : neighbours[queue[next]]) {
                if (level[neighbour] >= 0) continue;
                level[neighbour] = level[queue[next]] + 1;
                queue.push_back(neighbour);
            }
        }
    }
    return level;
}

std::vector<Index> lengths_of_vertices(const StagedMatrix& staged) {
    std::vector<Index> lengths(staged.matrix.rows);
    for (Index row = 0; row < staged.matrix.rows; ++row) {
        lengths[staged.row_order.old_of_new(row)] = static_cast<Index>(staged.matrix.row_length(row));
    }
    return lengths;
}

/// A few rows are much longer than most: the degrees say more about the graph than the order of the rows does.
bool is_skewed(const CsrMatrix& matrix) {
    constexpr double least = 8;  // longest row over the mean
    Offset longest = 0;
    for (Index row = 0; row < matrix.rows; ++row) longest = std::max(longest, matrix.row_length(row));
    return static_cast<double>(longest) * matrix.rows > least * static_cast<double>(matrix.nonzeros());
}

/// sizes: the size of each vertex.
void colour_by_scale(std::string name, const std::vector<Index>& sizes, GraphColours& result) {
    result.name = std::move(name);
    if (sizes.empty()) return;
    const auto [lowest, highest] = std::minmax_element(sizes.begin(), sizes.end());
    result.lowest = *lowest;
    result.highest = *highest;
    const auto range = static_cast<double>(std::max(result.highest - result.lowest, Offset{1}));
    for (const Index size : sizes) {
        result.colours.push_back(result.scale_colour(static_cast<double>(size - result.lowest) / range));
    }
}

}  // namespace

GraphView graph_view(std::span<const NodePlace> places, std::vector<std::array<Index, 2>> edges) {
    constexpr double right = 0.42;  // of a step to the back
    constexpr double up = 0.27;
    GraphView view{{}, {}, std::move(edges)};
    for (const NodePlace& place : places) view.places.push_back({place.x + right * place.z, place.y - up * place.z});
    if (places.empty()) return view;
    Point low = view.places.front();
    Point high = low;
    for (const Point& place : view.places) {
        low = {std::min(low.x, place.x), std::min(low.y, place.y)};
        high = {std::max(high.x, place.x), std::max(high.y, place.y)};
    }
    const double side = std::max(high.x - low.x, high.y - low.y);
    const double scale = side > 0 ? 1 / side : 1;
    for (Point& place : view.places) place = {(place.x - low.x) * scale, (place.y - low.y) * scale};
    view.extent = {(high.x - low.x) * scale, (high.y - low.y) * scale};
    return view;
}

bool has_row_pieces(const StagedMatrix& staged) { return cuts_of_rows(staged) != nullptr || !shares_of_rows(staged).empty(); }

GraphColours graph_colours(const StagedMatrix& staged, const GraphView& graph, std::optional<GraphColouring> by,
                           const PaperPalette& palette) {
    GraphColours result;
    result.palette = palette;
    result.by = by.value_or(has_row_pieces(staged)     ? GraphColouring::pieces
                            : is_skewed(staged.matrix) ? GraphColouring::length
                                                       : GraphColouring::order);
    const auto numbers = staged.row_order.new_of_old();
    result.numbers.assign(numbers.begin(), numbers.end());
    switch (result.by) {
        case GraphColouring::pieces: colour_by_pieces(staged, graph, result); break;
        case GraphColouring::order: colour_by_scale("current row", result.numbers, result); break;
        case GraphColouring::level: colour_by_scale("level", levels_of_vertices(staged, graph), result); break;
        case GraphColouring::length: colour_by_scale("nonzeros in the row", lengths_of_vertices(staged), result); break;
    }
    return result;
}

Colour GraphColours::scale_colour(double position) const {
    // Blue, teal, green, orange, red.
    static constexpr std::array<std::size_t, 5> order{0, 4, 2, 1, 5};
    constexpr int steps = 256;
    const int at = static_cast<int>(std::lround(std::clamp(position, 0.0, 1.0) * steps * (order.size() - 1)));
    constexpr Colour lightest{215, 215, 215};
    if (palette.is_grey) return mix({}, lightest, at / static_cast<int>(order.size() - 1));
    const std::size_t first = std::min<std::size_t>(at / steps, order.size() - 2);
    return mix(palette.colours.at(order.at(first)), palette.colours.at(order.at(first + 1)),
               at - static_cast<int>(first) * steps);
}

}  // namespace workbench
