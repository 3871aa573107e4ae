#include "frontends/cli/drawn_graph.hpp"

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/text/words.hpp"
#include "pipeline/report/page.hpp"
#include "stages/vertex_places.hpp"

namespace workbench {
namespace {

/// The coordinates of the generator's mesh; empty if there is none.
std::vector<NodePlace> mesh_places(const MatrixChoice& choice) {
    const auto* generated = std::get_if<GeneratedMatrix>(&choice.from);
    const bool is_mesh = generated != nullptr && generated->generator->places != nullptr;
    return is_mesh ? generated->generator->places(generated->parameters) : std::vector<NodePlace>{};
}

}  // namespace

GraphView drawn_graph(const MatrixChoice& choice, const CsrMatrix& matrix) {
    if (!matrix.square()) {
        throw InputError(fmt::format("{}: found {} and {}; --graph expects a square matrix", choice.where,
                                     counted(matrix.rows, "row"), counted(matrix.columns, "column")));
    }
    const Graph graph = adjacency_graph(matrix, 1);
    const std::size_t count = graph.neighbours.size() / 2;
    if (count > most_graph_edges || matrix.rows > static_cast<Index>(most_graph_edges)) {
        throw InputError(fmt::format("{}: found a graph of {} and {}; --graph draws up to {} of each", choice.where,
                                     counted(matrix.rows, "vertex"), counted(count, "edge"), most_graph_edges));
    }
    std::vector<NodePlace> places = mesh_places(choice);
    if (places.empty()) places = place_vertices(graph);
    std::vector<std::array<Index, 2>> edges;
    edges.reserve(count);
    for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) {
        for (const Index other : graph.neighbours_of(vertex)) {
            if (vertex < other) edges.push_back({vertex, other});
        }
    }
    return graph_view(places, std::move(edges));
}

std::vector<Point> page_places(const MatrixChoice& choice, const CsrMatrix& matrix, bool quick) {
    constexpr Offset most_nonzeros_quick = 10'000;  // places are found in about 40 ms
    if (!matrix.square() || matrix.nonzeros() > most_entries_with_values) return {};
    std::vector<NodePlace> places = mesh_places(choice);
    if (places.empty()) {
        if (quick && matrix.nonzeros() > most_nonzeros_quick) return {};
        places = place_vertices(adjacency_graph(matrix, 1));
    }
    return graph_view(places, {}).places;
}

}  // namespace workbench
