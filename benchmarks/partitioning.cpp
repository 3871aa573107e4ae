// Compares time and edge cut of METIS (one thread), multilevel_partition (all threads) and blocks of orders on matrices. Prints
// a line for each matrix; times are the least of several runs, for the partition without building the graph and fitting.
//
//     partitioning_benchmark [--parts 132] [--repetitions 3] [--no-metis] MATRIX...
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>

#include "benchmarks/clock.hpp"
#include "core/input/read_matrix.hpp"
#include "core/matrix/host_threads.hpp"
#include "stages/cuthill_mckee_order.hpp"
#include "stages/fit_partition.hpp"
#include "stages/multilevel.hpp"
#include "stages/partition_stage.hpp"

using namespace workbench;

namespace {

struct Options {
    int parts = 132;
    int repetitions = 3;
    bool no_metis = false;
    std::vector<std::string> matrices;
};

/// The rows with edges of the largest part, over the mean.
double imbalance(const Graph& graph, const std::vector<Index>& part_of, Index parts) {
    std::vector<Offset> rows(parts, 0);
    Offset coupled = 0;
    for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) {
        if (graph.degree(vertex) == 0) continue;
        ++rows[part_of[vertex]];
        ++coupled;
    }
    return static_cast<double>(*std::max_element(rows.begin(), rows.end())) * parts / static_cast<double>(coupled);
}

std::uint64_t checksum(const std::vector<Index>& part_of) {
    std::uint64_t sum = 0;
    for (const Index part : part_of) sum = (sum ^ static_cast<std::uint64_t>(part)) * 0x100000001B3U;
    return sum;
}

void measure(const std::string& path, const Options& options) {
    const CsrMatrix matrix = read_matrix(path);
    Graph graph;
    const double graph_seconds = least_seconds_of(options.repetitions, [&] { graph = adjacency_graph(matrix, 1); });
    const std::vector<Offset> weights(matrix.rows, 1);
    const Index parts = options.parts;
    const Index capacity = (matrix.rows + parts - 1) / parts;

    FoundPartition found;
    const double seconds = least_seconds_of(
        options.repetitions, [&] { found = partition_in_levels(graph, weights, parts, {}, "partitioning_benchmark"); });
    std::vector<Index>& part_of = found.part_of;
    const std::uint64_t sum = checksum(part_of);
    const double heaviest = imbalance(graph, part_of, parts);
    const Offset cut = edge_cut(graph, part_of);
    const double fit_seconds = least_seconds_of(1, [&] { fit_partition(graph, part_of, parts, capacity); });
    std::printf("%-14s graph %.3f s; levels: %.3f s, cut %ld, heaviest %.4f, fit %.3f s to %ld, sum %016lx",
                std::filesystem::path(path).stem().c_str(), graph_seconds, seconds, cut, heaviest, fit_seconds,
                edge_cut(graph, part_of), sum);
    for (const SearchStart start : {SearchStart::pseudo_peripheral, SearchStart::first_vertex}) {
        const double order_seconds = least_seconds_of(options.repetitions, [&] {
            const std::vector<Index> order = cuthill_mckee_order(graph, start).old_of_new;
            const std::vector<Index> boundaries = equal_pieces(order, weights, {parts, capacity, {}});
            for (Index part = 0; part < parts; ++part) {
                for (Index i = boundaries[part]; i < boundaries[part + 1]; ++i) part_of[order[i]] = part;
            }
        });
        std::printf("; %s: %.3f s, cut %ld", start == SearchStart::pseudo_peripheral ? "rcm_blocks" : "bfs_blocks",
                    order_seconds, edge_cut(graph, part_of));
    }
    if (!options.no_metis) {
        const MetisGraph coupled = metis_graph(graph, weights, "partitioning_benchmark");
        const double metis_seconds =
            least_seconds_of(options.repetitions, [&] { found = partition_with_metis(coupled, parts, {}); });
        const double metis_heaviest = imbalance(graph, part_of, parts);
        fit_partition(graph, part_of, parts, capacity);
        std::printf("; METIS: %.3f s, cut %ld, heaviest %.4f, fit to %ld; %.2f x as fast, cut %+.2f %%", metis_seconds,
                    found.cut, metis_heaviest, edge_cut(graph, part_of), metis_seconds / seconds,
                    100 * (static_cast<double>(cut) / static_cast<double>(found.cut) - 1));
    }
    std::printf("\n");
    std::fflush(stdout);
}

int run(int count, char** arguments) {
    Options options;
    CLI::App app("Times METIS and multilevel_partition");
    app.add_option("--parts", options.parts, "number of parts")->capture_default_str()->check(CLI::Range(2, 100000));
    app.add_option("--repetitions", options.repetitions, "runs; the fastest is reported")
        ->capture_default_str()
        ->check(CLI::Range(1, 99));
    app.add_flag("--no-metis", options.no_metis, "skip METIS");
    app.add_option("matrices", options.matrices, "files of matrices")->required();
    CLI11_PARSE(app, count, arguments);
    std::printf("%d threads, %d parts\n", host_threads(), options.parts);
    for (const std::string& path : options.matrices) measure(path, options);
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    Kokkos::ScopeGuard kokkos(count, arguments);
    try {
        return run(count, arguments);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "error: %s\n", error.what());
        return 3;
    }
}
