// Compares the orders of the stages king and sloan with those of Boost.Graph, which begin and end at the same vertices. Prints
// bandwidth and profile for each matrix, in the order and in its reverse, and the processor time, which for a stage includes
// building the graph.
//
//     OMP_NUM_THREADS=1 boost_orders_benchmark king|sloan MATRIX...
#include <boost/graph/king_ordering.hpp>
#include <boost/graph/sloan_ordering.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>

#include "benchmarks/clock.hpp"
#include "core/input/read_matrix.hpp"
#include "stages/boost_graph.hpp"
#include "stages/levels.hpp"
#include "stages/order.hpp"
#include "stages/stages.hpp"

using namespace workbench;

namespace {

using Order = std::vector<Index>;

Order boost_king(const Graph& graph) {
    LevelSearch search(graph);
    std::deque<Index> starts;
    for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) {
        if (!search.seen(vertex)) starts.push_back(search.pseudo_peripheral(vertex));
    }
    Order order(graph.vertex_count());
    std::vector<boost::default_color_type> colors(order.size());
    std::vector<Index> degrees;
    for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) degrees.push_back(graph.degree(vertex));
    boost::king_ordering(BoostGraph{graph}, starts, order.begin(), property_of_vertices(colors), property_of_vertices(degrees),
                         boost::typed_identity_property_map<Index>());
    return order;
}

Order boost_sloan(const Graph& graph) {
    LevelSearch search(graph);
    Order order(graph.vertex_count());
    std::vector<boost::default_color_type> colors(order.size());
    std::vector<Index> degrees;
    for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) degrees.push_back(graph.degree(vertex));
    std::vector<std::int64_t> priorities(order.size());
    BoostGraph boost_graph{graph};
    auto next = order.begin();
    for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) {
        if (search.seen(vertex)) continue;
        const Index start = search.pseudo_peripheral(vertex);
        search.from(start);
        next = boost::sloan_ordering(boost_graph, start, search.farthest(), next, property_of_vertices(colors),
                                     property_of_vertices(degrees), property_of_vertices(priorities), std::int64_t{2},
                                     std::int64_t{1});
    }
    return order;
}

Order of_stage(const StageEntry& stage, const StagedMatrix& staged) {
    const StageResult result = stage.run(staged, Parameters(stage.parameters, {}), {});
    Order order(staged.matrix.rows);
    for (Index i = 0; i < staged.matrix.rows; ++i) order[i] = result.change.order->order.old_of_new(i);
    return order;
}

template <typename Find>
void measure(const char* what, const Graph& graph, const Find& find) {
    Order order;
    const double seconds = least_seconds_of(1, [&] { order = find(); });
    Order place(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<Index>(i);
    Index bandwidth = 0;
    Offset profile = 0;
    Offset reversed = 0;
    for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) {
        Index before = 0;
        Index after = 0;
        for (const Index other : graph.neighbours_of(vertex)) {
            before = std::max(before, place[vertex] - place[other]);
            after = std::max(after, place[other] - place[vertex]);
        }
        bandwidth = std::max(bandwidth, before);
        profile += before;
        reversed += after;
    }
    std::printf("  %-6s %9.3f s  bandwidth %9d  profile %.3e, reversed %.3e\n", what, seconds, bandwidth,
                static_cast<double>(profile), static_cast<double>(reversed));
    std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
    Kokkos::ScopeGuard kokkos(count, arguments);
    const std::string which = count < 3 ? "" : arguments[1];
    if (which != "king" && which != "sloan") {
        std::fprintf(stderr, "boost_orders_benchmark king|sloan MATRIX...\n");
        return 2;
    }
    try {
        for (int i = 2; i < count; ++i) {
            const StagedMatrix staged = stage_input(read_matrix(arguments[i]));
            const Graph graph = adjacency_graph(staged.matrix, 1);
            std::printf("%s\n", std::filesystem::path(arguments[i]).stem().c_str());
            measure("input", graph, [&] { return all_of(graph.vertex_count()); });
            measure("stage", graph, [&] { return of_stage(which == "king" ? king_stage() : sloan_stage(), staged); });
            measure("Boost", graph, [&] { return which == "king" ? boost_king(graph) : boost_sloan(graph); });
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "error: %s\n", error.what());
        return 3;
    }
}
