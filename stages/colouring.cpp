// A multicolour order: rows of one colour are not coupled, so that a sweep such as Gauss-Seidel's can update them in parallel.
#include <boost/graph/sequential_vertex_coloring.hpp>
#include <boost/graph/smallest_last_ordering.hpp>
#include <boost/property_map/shared_array_property_map.hpp>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/forecast/forecast.hpp"
#include "stages/boost_graph.hpp"
#include "stages/order.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

/// [vertices] The least colour that no neighbour has, for one vertex after another.
std::vector<Index> greedy_colours(const Graph& graph, bool smallest_last) {
    std::vector<Index> sequence = all_of(graph.vertex_count());
    std::vector<Index> colours(sequence.size());
    if (sequence.empty()) return colours;  // Boost's order would not end
    const BoostGraph boost_graph{graph};
    if (smallest_last) boost::smallest_last_vertex_ordering(boost_graph, property_of_vertices(sequence));
    boost::sequential_vertex_coloring(boost_graph, property_of_vertices(sequence), property_of_vertices(colours));
    return colours;
}

StageResult run_colouring(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    const Graph graph = adjacency_graph(staged.matrix, staged.node_size);
    const std::vector<Index> colours = greedy_colours(graph, parameters.text("sequence") == "smallest_last");
    const Index count = colours.empty() ? 0 : *std::max_element(colours.begin(), colours.end()) + 1;
    std::vector<Index> begins(count + 1, 0);
    for (const Index colour : colours) begins[colour + 1] += staged.node_size;
    StageResult result{.notes = {{"colours", std::to_string(count)}}};
    if (count > 0) {
        const auto [fewest, most] = std::minmax_element(begins.begin() + 1, begins.end());
        result.notes.push_back({"rows of a colour, at least", std::to_string(*fewest)});
        result.notes.push_back({"rows of a colour, at most", std::to_string(*most)});
    }
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    std::vector<Index> order = all_of(graph.vertex_count());
    stable_sort_by(order, colours);
    result.change.order = order_of_nodes(std::move(order), staged.node_size);
    result.change.cuts = {{CutKind::partition, std::move(begins)}};
    return result;
}

/// Rows of one colour share few columns: a mesh of triangles then reads twice as many sectors of x
/// (docs/lessons/12-colours.md).
void foresee_colours(PatternForecast& pattern, const Parameters&, const StageContext&) {
    constexpr double sectors = 2;
    pattern.reorder(sectors);
}

}  // namespace

StageEntry colouring_stage() {
    return {.name = "colouring",
            .summary = "Colour the graph of A + A^T greedily, and gather the rows of each colour, which are not coupled",
            .source =
                "Matula, Beck, 'Smallest-last ordering and clustering and graph coloring algorithms', J. ACM 1983; multicolour "
                "orders: Adams, Ortega, 'A multi-color SOR method for parallel computation', ICPP 1982; library: Boost.Graph",
            .parameters = {choice_parameter("sequence", by_default("smallest_last"), {"smallest_last", "natural"},
                                            "colour rows with few neighbours last, or in the order of the matrix")},
            .contract =
                [](const Parameters&) {
                    return StageContract{
                        .needs = {.square = true}, .acts = Acts::symmetric, .gives_cuts = {CutKind::partition}};
                },
            .orders_all = true,
            .run = run_colouring,
            .foresee = foresee_colours,
            .nanoseconds_per_nonzero = 60};
}

}  // namespace workbench
