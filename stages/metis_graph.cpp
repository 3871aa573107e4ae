#include "stages/metis_graph.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>
#include <span>

#include "core/contract/errors.hpp"
#include "core/text/words.hpp"

namespace workbench {
namespace {

/// The largest sum of weights, because METIS adds them up and multiplies sums by small factors.
constexpr Offset largest_sum = std::numeric_limits<idx_t>::max() / 4;

idx_t scaled(Offset weight, Offset scale) { return static_cast<idx_t>(std::max<Offset>(weight / scale, 1)); }

/// The vertices with edges, their offsets and weights; and, in `number`, the new numbers of these vertices.
MetisGraph coupled_vertices(std::span<const Offset> offsets, const std::vector<Offset>& weights, std::string_view stage,
                            std::vector<idx_t>& number) {
    constexpr Offset limit = std::numeric_limits<idx_t>::max();
    if (offsets.back() > limit) {
        throw InputError(fmt::format("{}: METIS counts edge ends with {} bits, up to {}; this graph has {}", stage,
                                     8 * sizeof(idx_t), limit, offsets.back()));
    }
    MetisGraph result{.stage = stage, .whole_count = static_cast<Index>(offsets.size()) - 1};
    const Offset scale = std::accumulate(weights.begin(), weights.end(), Offset{0}) / largest_sum + 1;
    number.resize(result.whole_count);
    for (Index vertex = 0; vertex < result.whole_count; ++vertex) {
        if (offsets[vertex] == offsets[vertex + 1]) continue;
        number[vertex] = static_cast<idx_t>(result.vertices.size());
        result.vertices.push_back(vertex);
        result.offsets.push_back(static_cast<idx_t>(offsets[vertex + 1]));
        if (!weights.empty()) result.weights.push_back(scaled(weights[vertex], scale));
    }
    return result;
}

using Options = std::array<idx_t, 2 * METIS_NOPTIONS>;  // large enough for integers of twice the size

Options default_options(Index seed, std::string_view stage) {
    Options options{};
    METIS_SetDefaultOptions(options.data());
    if (options[METIS_NOPTIONS] != 0) {
        // A program that loads the library may bring its own METIS under the same symbols.
        throw MachineError(fmt::format("{}: the METIS in this program has longer integers than the expected {} bits", stage,
                                       8 * sizeof(idx_t)));
    }
    options[METIS_OPTION_SEED] = seed;
    return options;
}

void check_status(int status, const MetisGraph& graph) {
    if (status == METIS_ERROR_MEMORY) {
        throw MachineError(fmt::format("{}: METIS ran out of memory on {} and {}", graph.stage,
                                       counted(graph.vertices.size(), "vertex"), counted(graph.neighbours.size() / 2, "edge")));
    }
    if (status != METIS_OK) throw InputError(fmt::format("{}: METIS failed with status {}", graph.stage, status));
}

idx_t* data_or_null(std::vector<idx_t>& weights) { return weights.empty() ? nullptr : weights.data(); }

/// Discards standard output while it exists. METIS reports empty parts there, which are no error here, and the text would end
/// up in a table or in JSON.
class SilentStandardOutput {
public:
    SilentStandardOutput() {
        std::fflush(stdout);
        const int nowhere = open("/dev/null", O_WRONLY);
        if (nowhere < 0) return;
        saved_ = dup(STDOUT_FILENO);
        if (saved_ >= 0) dup2(nowhere, STDOUT_FILENO);
        close(nowhere);
    }
    SilentStandardOutput(const SilentStandardOutput&) = delete;
    SilentStandardOutput& operator=(const SilentStandardOutput&) = delete;
    ~SilentStandardOutput() {
        if (saved_ < 0) return;
        std::fflush(stdout);
        dup2(saved_, STDOUT_FILENO);
        close(saved_);
    }

private:
    int saved_ = -1;
};

/// METIS's ufactor: the excess of the heaviest part over the mean, in thousandths. At least one vertex, because the k-way
/// refinement moves single vertices, and leaves a cut several times as large if no vertex may move.
idx_t allowance(double imbalance, idx_t parts, idx_t vertices) {
    const double one_vertex = std::ceil(1000.0 * parts / vertices);
    return static_cast<idx_t>(std::max<double>(std::round(1000 * (imbalance - 1)), one_vertex));
}

}  // namespace

MetisGraph metis_graph(const Graph& graph, const std::vector<Offset>& weights, std::string_view stage) {
    std::vector<idx_t> number;
    MetisGraph result = coupled_vertices(graph.offsets, weights, stage, number);
    result.neighbours.resize(graph.neighbours.size());
    std::transform(graph.neighbours.begin(), graph.neighbours.end(), result.neighbours.begin(),
                   [&number](Index neighbour) { return number[neighbour]; });
    return result;
}

MetisGraph metis_graph(const WeightedGraph& graph, std::string_view stage) {
    std::vector<idx_t> number;
    MetisGraph result = coupled_vertices(graph.offsets, graph.vertex_weights, stage, number);
    Offset sum = 0;
    for (const WeightedEdge edge : graph.edges) sum += edge.weight;
    const Offset scale = sum / largest_sum + 1;
    result.neighbours.reserve(graph.edges.size());
    result.edge_weights.reserve(graph.edges.size());
    for (const WeightedEdge edge : graph.edges) {
        result.neighbours.push_back(number[edge.to]);
        result.edge_weights.push_back(scaled(edge.weight, scale));
    }
    return result;
}

FoundPartition partition_with_metis(MetisGraph graph, Index part_count, const MetisOptions& asked) {
    auto vertices = static_cast<idx_t>(graph.vertices.size());
    idx_t constraints = 1;
    idx_t parts = part_count;
    idx_t cut = 0;
    std::vector<idx_t> found(graph.vertices.size());
    Options options = default_options(asked.seed, graph.stage);
    options[METIS_OPTION_UFACTOR] = allowance(asked.imbalance, parts, vertices);

    const SilentStandardOutput silence;
    const auto partition = asked.recursive ? METIS_PartGraphRecursive : METIS_PartGraphKway;
    check_status(
        partition(&vertices, &constraints, graph.offsets.data(), graph.neighbours.data(), data_or_null(graph.weights), nullptr,
                  data_or_null(graph.edge_weights), &parts, nullptr, nullptr, options.data(), &cut, found.data()),
        graph);
    FoundPartition result{std::vector<Index>(graph.whole_count, -1), cut};
    for (std::size_t i = 0; i < found.size(); ++i) result.part_of[graph.vertices[i]] = found[i];
    return result;
}

std::vector<Index> dissect_with_metis(MetisGraph graph, Index seed) {
    auto vertices = static_cast<idx_t>(graph.vertices.size());
    if (vertices == 0) return {};
    Options options = default_options(seed, graph.stage);
    std::vector<idx_t> old_of_new(graph.vertices.size());
    std::vector<idx_t> new_of_old(graph.vertices.size());
    check_status(METIS_NodeND(&vertices, graph.offsets.data(), graph.neighbours.data(), data_or_null(graph.weights),
                              options.data(), old_of_new.data(), new_of_old.data()),
                 graph);
    std::vector<Index> order;
    order.reserve(old_of_new.size());
    for (const idx_t vertex : old_of_new) order.push_back(graph.vertices[vertex]);
    return order;
}

}  // namespace workbench
