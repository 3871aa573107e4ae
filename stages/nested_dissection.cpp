// Nested dissection: two halves that only a separator couples, each ordered likewise, the separator last.
#include <fmt/format.h>
#include <metis.h>

#include <array>
#include <limits>
#include <numeric>
#include <vector>

#include "pipeline/contract/errors.hpp"
#include "stages/graph.hpp"
#include "stages/order.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

/// Without the vertices that have no edges: METIS cannot match those when it makes the graph coarser.
struct CoupledGraph {
    std::vector<Index> vertices;  // of the whole graph
    std::vector<idx_t> offsets{0};
    std::vector<idx_t> neighbours;
};

CoupledGraph coupled_part(const Graph& graph) {
    constexpr Offset limit = std::numeric_limits<idx_t>::max();
    if (graph.offsets.back() > limit) {
        throw InputError(
            fmt::format("nested_dissection: METIS counts the ends of edges in {} bits, up to {}; this graph has {}",
                        8 * sizeof(idx_t), limit, graph.offsets.back()));
    }
    CoupledGraph coupled;
    std::vector<idx_t> number(graph.vertex_count());
    for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) {
        if (graph.degree(vertex) == 0) continue;
        number[vertex] = static_cast<idx_t>(coupled.vertices.size());
        coupled.vertices.push_back(vertex);
        coupled.offsets.push_back(static_cast<idx_t>(graph.offsets[vertex + 1]));
    }
    coupled.neighbours.reserve(graph.neighbours.size());
    for (const Index neighbour : graph.neighbours) coupled.neighbours.push_back(number[neighbour]);
    return coupled;
}

/// The order of the vertices that METIS finds, in the numbers of the whole graph.
std::vector<Index> dissected(CoupledGraph coupled, std::int64_t seed) {
    auto vertices = static_cast<idx_t>(coupled.vertices.size());
    if (vertices == 0) return {};
    std::array<idx_t, 2 * METIS_NOPTIONS> options{};  // room for integers that are twice as long
    METIS_SetDefaultOptions(options.data());
    if (options[METIS_NOPTIONS] != 0) {
        // The library is in one process with a program that may have brought a METIS of its own under the same names.
        throw MachineError(fmt::format(
            "nested_dissection: the METIS in this program has longer integers than the {} bits expected", 8 * sizeof(idx_t)));
    }
    options[METIS_OPTION_SEED] = static_cast<idx_t>(seed);
    std::vector<idx_t> old_of_new(coupled.vertices.size());
    std::vector<idx_t> new_of_old(coupled.vertices.size());
    const int status = METIS_NodeND(&vertices, coupled.offsets.data(), coupled.neighbours.data(), nullptr, options.data(),
                                    old_of_new.data(), new_of_old.data());
    if (status == METIS_ERROR_MEMORY) {
        throw MachineError(fmt::format("nested_dissection: METIS ran out of memory on {} vertices and {} edges", vertices,
                                       coupled.neighbours.size() / 2));
    }
    if (status != METIS_OK) throw InputError(fmt::format("nested_dissection: METIS gave up with status {}", status));
    std::vector<Index> order;
    order.reserve(old_of_new.size());
    for (const idx_t vertex : old_of_new) order.push_back(coupled.vertices[vertex]);
    return order;
}

StageResult run(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    const Graph graph = adjacency_graph(staged.matrix, staged.node_size);
    std::vector<Index> order = dissected(coupled_part(graph), parameters.integer("seed"));
    for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) {
        if (graph.degree(vertex) == 0) order.push_back(vertex);
    }
    const Permutation nodes = Permutation::from_old_of_new(std::move(order));
    return {.change = {.order = OrderChange{Acts::symmetric, expand(nodes, staged.node_size)}}};
}

}  // namespace

StageEntry nested_dissection_stage() {
    return {
        .name = "nested_dissection",
        .summary = "Halve the graph of A + A^T by small separators again and again, and number each separator after its halves",
        .source = "George, 'Nested dissection of a regular finite element mesh' (1973); METIS: Karypis, Kumar (1998)",
        .parameters = {{.name = "seed",
                        .type = ParameterType::integer,
                        .default_value = std::int64_t{1},
                        .minimum = 0,
                        .maximum = 2147483647,
                        .help = "start of METIS's random numbers"}},
        .contract = [](const Parameters&) { return StageContract{.needs = {.square = true}, .acts = Acts::symmetric}; },
        .run = run};
}

}  // namespace workbench
