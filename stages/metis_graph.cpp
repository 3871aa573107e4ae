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

#include "pipeline/contract/errors.hpp"

namespace workbench {
namespace {

/// The largest sum of weights: METIS adds them up, and multiplies sums a little.
constexpr Offset largest_sum = std::numeric_limits<idx_t>::max() / 4;

void check_ends(Offset ends, std::string_view stage) {
    constexpr Offset limit = std::numeric_limits<idx_t>::max();
    if (ends <= limit) return;
    throw InputError(fmt::format("{}: METIS counts the ends of edges in {} bits, up to {}; this graph has {}", stage,
                                 8 * sizeof(idx_t), limit, ends));
}

idx_t scaled(Offset weight, Offset scale) { return static_cast<idx_t>(std::max<Offset>(weight / scale, 1)); }

Offset scale_of(const std::vector<Offset>& weights) {
    return std::accumulate(weights.begin(), weights.end(), Offset{0}) / largest_sum + 1;
}

/// While it lives, standard output is discarded. METIS complains there where a part gets no vertex, which is no error here and
/// would end up in the middle of a table or of JSON.
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

/// METIS's ufactor: what the heaviest part may have above the mean, in thousandths. At least one vertex: the k-way refinement
/// moves single vertices, and where none fits it leaves a cut several times as large.
idx_t allowance(double imbalance, idx_t parts, idx_t vertices) {
    const double one_vertex = std::ceil(1000.0 * parts / vertices);
    return static_cast<idx_t>(std::max<double>(std::round(1000 * (imbalance - 1)), one_vertex));
}

}  // namespace

MetisGraph metis_graph(const Graph& graph, const std::vector<Offset>& weights, std::string_view stage) {
    check_ends(graph.offsets.back(), stage);
    const Offset scale = scale_of(weights);
    MetisGraph result;
    std::vector<idx_t> number(graph.vertex_count());
    for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) {
        if (graph.degree(vertex) == 0) continue;
        number[vertex] = static_cast<idx_t>(result.vertices.size());
        result.vertices.push_back(vertex);
        result.offsets.push_back(static_cast<idx_t>(graph.offsets[vertex + 1]));
        result.weights.push_back(scaled(weights[vertex], scale));
    }
    result.neighbours.resize(graph.neighbours.size());
    std::transform(graph.neighbours.begin(), graph.neighbours.end(), result.neighbours.begin(),
                   [&number](Index neighbour) { return number[neighbour]; });
    return result;
}

MetisGraph metis_graph(const WeightedGraph& graph, std::string_view stage) {
    check_ends(graph.offsets.back(), stage);
    const Offset scale = scale_of(graph.vertex_weights);
    Offset edge_sum = 0;
    for (Offset i = 0; i < graph.offsets.back(); ++i) edge_sum += graph.edges[i].weight;
    const Offset edge_scale = edge_sum / largest_sum + 1;
    MetisGraph result;
    std::vector<idx_t> number(graph.vertex_count(), 0);
    for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) {
        if (graph.edges_of(vertex).empty()) continue;
        number[vertex] = static_cast<idx_t>(result.vertices.size());
        result.vertices.push_back(vertex);
        result.offsets.push_back(static_cast<idx_t>(graph.offsets[vertex + 1]));
        result.weights.push_back(scaled(graph.vertex_weights[vertex], scale));
    }
    result.neighbours.reserve(graph.edges.size());
    result.edge_weights.reserve(graph.edges.size());
    for (Offset i = 0; i < graph.offsets.back(); ++i) {
        result.neighbours.push_back(number[graph.edges[i].to]);
        result.edge_weights.push_back(scaled(graph.edges[i].weight, edge_scale));
    }
    return result;
}

Offset partition_with_metis(MetisGraph graph, Index part_count, const MetisOptions& asked, std::string_view stage,
                            std::vector<Index>& part_of) {
    auto vertices = static_cast<idx_t>(graph.vertices.size());
    idx_t constraints = 1;
    idx_t parts = part_count;
    idx_t cut = 0;
    std::vector<idx_t> found(graph.vertices.size());
    std::array<idx_t, 2 * METIS_NOPTIONS> options{};  // room for integers that are twice as long
    METIS_SetDefaultOptions(options.data());
    if (options[METIS_NOPTIONS] != 0) {
        // The library is in one process with a program that may have brought a METIS of its own under the same names.
        throw MachineError(fmt::format("{}: the METIS in this program has longer integers than the {} bits expected", stage,
                                       8 * sizeof(idx_t)));
    }
    options[METIS_OPTION_SEED] = asked.seed;
    options[METIS_OPTION_UFACTOR] = allowance(asked.imbalance, parts, vertices);

    const SilentStandardOutput silence;
    const auto partition = asked.recursive ? METIS_PartGraphRecursive : METIS_PartGraphKway;
    const int status = partition(&vertices, &constraints, graph.offsets.data(), graph.neighbours.data(), graph.weights.data(),
                                 nullptr, graph.edge_weights.empty() ? nullptr : graph.edge_weights.data(), &parts, nullptr,
                                 nullptr, options.data(), &cut, found.data());
    if (status == METIS_ERROR_MEMORY) {
        throw MachineError(fmt::format("{}: METIS ran out of memory on {} vertices and {} edges", stage, vertices,
                                       graph.neighbours.size() / 2));
    }
    if (status != METIS_OK) throw InputError(fmt::format("{}: METIS gave up with status {}", stage, status));
    for (std::size_t i = 0; i < found.size(); ++i) part_of[graph.vertices[i]] = found[i];
    return cut;
}

}  // namespace workbench
