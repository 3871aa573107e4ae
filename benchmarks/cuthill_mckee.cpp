// Times Cuthill-McKee with all threads and with Boost.Graph on matrices, and compares the bandwidths. Prints a line for each
// matrix; times are the least of several runs, for the order without building the graph: processor time with one thread,
// otherwise wall time.
//
//     cuthill_mckee_benchmark REPETITIONS MATRIX...
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>

#include "benchmarks/clock.hpp"
#include "core/input/read_matrix.hpp"
#include "core/matrix/host_threads.hpp"
#include "stages/boost_order.hpp"
#include "stages/cuthill_mckee_order.hpp"

using namespace workbench;

namespace {

Index bandwidth(const Graph& graph, const std::vector<Index>& order) {
    std::vector<Index> place(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<Index>(i);
    Index most = 0;
    for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) {
        for (const Index neighbour : graph.neighbours_of(vertex)) most = std::max(most, place[neighbour] - place[vertex]);
    }
    return most;
}

void measure(const std::string& path, int repetitions) {
    const Graph graph = adjacency_graph(read_matrix(path), 1);
    CuthillMcKeeOrder found;
    const double seconds = least_seconds_of(repetitions, [&] { found = cuthill_mckee_order(graph); });
    std::vector<Index> boost;
    const double boost_seconds = least_seconds_of(repetitions, [&] { boost = boost_order(graph); });
    std::printf("%-14s %7d components; levels: %.3f s, bandwidth %d; Boost: %.3f s, bandwidth %d; %.2f x as fast, orders %s\n",
                std::filesystem::path(path).stem().c_str(), found.components, seconds, bandwidth(graph, found.old_of_new),
                boost_seconds, bandwidth(graph, boost), boost_seconds / seconds,
                boost == found.old_of_new ? "equal" : "different");
    std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
    Kokkos::ScopeGuard kokkos(count, arguments);
    if (count < 3) {
        std::fprintf(stderr, "cuthill_mckee_benchmark REPETITIONS MATRIX...\n");
        return 2;
    }
    try {
        std::printf("%d threads\n", host_threads());
        for (int i = 2; i < count; ++i) measure(arguments[i], std::max(std::atoi(arguments[1]), 1));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "error: %s\n", error.what());
        return 3;
    }
}
