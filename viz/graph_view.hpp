// The graph of a square matrix in the plane, and the colours of its vertices after a stage.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/contract/generator.hpp"
#include "core/matrix/staged_matrix.hpp"
#include "viz/image.hpp"
#include "viz/palette.hpp"
#include "viz/text.hpp"

namespace workbench {

/// The most edges of a graph that is drawn.
inline constexpr std::size_t most_graph_edges = 200'000;

struct GraphView {
    std::vector<Point> places;                // [rows of the input] y points down; the longer side of the graph is 1
    Point extent;                             // the largest coordinates
    std::vector<std::array<Index, 2>> edges;  // rows of the input, each edge once
};

/// Projects places in space obliquely.
[[nodiscard]] GraphView graph_view(std::span<const NodePlace> places, std::vector<std::array<Index, 2>> edges);

/// level: the number of edges from the first row of the component in the current order, as Cuthill-McKee counts levels.
enum class GraphColouring { pieces, order, level, length };

/// After a stage.
struct GraphColours {
    GraphColouring by = GraphColouring::order;
    std::string name;             // "3 partitions", "current row", "level", "nonzeros in the row"
    std::vector<Colour> colours;  // [rows of the input]
    std::vector<Index> pieces;    // [rows of the input]; empty unless by pieces
    std::vector<Index> numbers;   // [rows of the input] the current row
    Offset lowest = 0;            // of the scale; 0 by pieces
    Offset highest = 0;
    PaperPalette palette = paper_palettes.front();

    /// The colour of a position of 0 .. 1 on the scale.
    [[nodiscard]] Colour scale_colour(double position) const;
};

/// Returns true if graph_colours can colour by pieces.
[[nodiscard]] bool has_row_pieces(const StagedMatrix& staged);

/// By partition, row block or length group if the matrix has one and nothing else is given, or by share if every row is in one;
/// otherwise by row length if a few rows are much longer than most, or else by the current row order.
/// Adjacent pieces have different colours if six colours suffice for it. Throws std::invalid_argument for pieces that the
/// matrix does not have.
[[nodiscard]] GraphColours graph_colours(const StagedMatrix& staged, const GraphView& graph,
                                         std::optional<GraphColouring> by = {},
                                         const PaperPalette& palette = paper_palettes.front());

}  // namespace workbench
