// Graph partitioning: rows that read the same entries of x, gathered in parts that fit into shared memory.
#include <fcntl.h>
#include <fmt/format.h>
#include <metis.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "pipeline/contract/errors.hpp"
#include "stages/fit_partition.hpp"
#include "stages/graph.hpp"
#include "stages/order.hpp"
#include "stages/stages.hpp"
#include "stages/value_bytes.hpp"

namespace workbench {
namespace {

/// Columns relative to the start of a part are stored in 16 bits (EHYB section 3.4).
constexpr Index rows_of_16_bit_columns = 65536;
/// Bytes of such a column.
constexpr std::int64_t column_bytes = 2;

/// How many parts, and how many nodes fit into one.
struct Plan {
    Index parts = 1;
    Index capacity = 0;           // nodes
    std::optional<Index> rounds;  // K of EHYB eq. 1, where it was asked for
};

Index divide_up(std::int64_t a, std::int64_t b) { return static_cast<Index>((a + b - 1) / b); }

const DeviceProperties& device_for(const Parameters& parameters, const StageContext& context) {
    const std::string& name = parameters.text("device");
    if (name != "present") return *find_device_model(name);
    if (context.device != nullptr) return *context.device;
    std::string models;
    for (const std::string& model : device_model_names()) models += (models.empty() ? "" : ", ") + model;
    throw MachineError(
        "metis_partition: device = \"present\" asks for the GPU of this machine, and there is none; name a model (" + models +
        ") or give parts as a number with capacity = \"vector_size\"");
}

/// The most nodes whose slice of x fits into the shared memory of a block. Eq. 1 demands strictly less, which leaves room for
/// the counter that the warps of a block share.
Index nodes_in_shared_memory(const DeviceProperties& device, std::int64_t value_bytes, Index node_size) {
    const auto bytes = static_cast<std::int64_t>(device.shared_memory_per_block);
    const std::int64_t rows = std::min<std::int64_t>((bytes - 1) / value_bytes, rows_of_16_bit_columns);
    if (bytes == 0 || rows < node_size) {
        throw InputError(fmt::format("metis_partition: {} bytes of shared memory ({}) do not hold one node of {} rows", bytes,
                                     device.name, node_size));
    }
    return static_cast<Index>(rows / node_size);
}

/// EHYB eq. 1: the smallest K for which a part of each of K x P equal parts fits. In whole nodes, so that the largest part of
/// eq. 2 fits too where the division leaves a remainder.
Index smallest_round_count(Index nodes, Index processors, Index nodes_that_fit) {
    return std::max(divide_up(nodes, std::int64_t{processors} * nodes_that_fit), Index{1});
}

bool keeps_partition(const Parameters& parameters) { return parameters.text("keep") == "partition"; }

Plan plan_parts(const StagedMatrix& staged, const Parameters& parameters, const StageContext& context) {
    const Index nodes = staged.matrix.rows / staged.node_size;
    const bool automatic = parameters.is_word("parts", "auto");
    const bool fill_shared_memory = parameters.text("capacity") == "shared_memory";
    Plan plan;
    if (!automatic) plan.parts = static_cast<Index>(parameters.integer("parts"));
    if (automatic || fill_shared_memory) {
        const DeviceProperties& device = device_for(parameters, context);
        plan.capacity = nodes_in_shared_memory(device, bytes_of_value(parameters, context), staged.node_size);
        if (automatic) {
            plan.rounds = smallest_round_count(nodes, device.processors, plan.capacity);
            plan.parts = *plan.rounds * device.processors;
        }
    }
    // Eq. 2, in whole nodes.
    if (!fill_shared_memory) plan.capacity = divide_up(nodes, plan.parts);
    if (std::int64_t{plan.parts} * plan.capacity < nodes) {
        throw InputError(
            fmt::format("metis_partition: parts = {} of at most {} rows (capacity = \"shared_memory\") cannot hold {} rows; "
                        "give at least {} parts",
                        plan.parts, plan.capacity * staged.node_size, staged.matrix.rows, divide_up(nodes, plan.capacity)));
    }
    return plan;
}

/// The weight of each node: what METIS balances. Scaled down where the sum would come near the largest integer of METIS.
std::vector<idx_t> node_weights(const StagedMatrix& staged, const Parameters& parameters, const StageContext& context) {
    const std::string& weights = parameters.text("weights");
    const std::int64_t value_bytes = bytes_of_value(parameters, context);
    const auto weight_of = [&](Index row) -> std::int64_t {
        const Offset length = staged.matrix.row_length(row);
        if (weights == "nonzeros") return std::max(length, Offset{1});
        if (weights == "bytes") return length * (value_bytes + column_bytes) + 2 * value_bytes;
        return 1;
    };
    std::vector<std::int64_t> exact(staged.matrix.rows / staged.node_size, 0);
    for (Index row = 0; row < staged.matrix.rows; ++row) exact[row / staged.node_size] += weight_of(row);

    constexpr std::int64_t largest_sum = std::numeric_limits<idx_t>::max() / 4;
    const std::int64_t scale = std::accumulate(exact.begin(), exact.end(), std::int64_t{0}) / largest_sum + 1;
    std::vector<idx_t> scaled(exact.size());
    std::transform(exact.begin(), exact.end(), scaled.begin(),
                   [scale](std::int64_t weight) { return static_cast<idx_t>(std::max<std::int64_t>(weight / scale, 1)); });
    return scaled;
}

/// A graph and the weights of its vertices as METIS takes them: without the vertices that have no edges. METIS cannot match
/// those when it makes the graph coarser; the rest is partitioned much better without them.
struct MetisGraph {
    std::vector<Index> vertices;  // of the whole graph
    std::vector<idx_t> offsets{0};
    std::vector<idx_t> neighbours;
    std::vector<idx_t> weights;
};

MetisGraph metis_graph(const Graph& graph, const std::vector<idx_t>& weights) {
    constexpr Offset limit = std::numeric_limits<idx_t>::max();
    if (graph.offsets.back() > limit) {
        throw InputError(fmt::format("metis_partition: METIS counts the ends of edges in {} bits, up to {}; this graph has {}",
                                     8 * sizeof(idx_t), limit, graph.offsets.back()));
    }
    MetisGraph result;
    std::vector<idx_t> number(graph.vertex_count());
    for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) {
        if (graph.degree(vertex) == 0) continue;
        number[vertex] = static_cast<idx_t>(result.vertices.size());
        result.vertices.push_back(vertex);
        result.offsets.push_back(static_cast<idx_t>(graph.offsets[vertex + 1]));
        result.weights.push_back(weights[vertex]);
    }
    result.neighbours.resize(graph.neighbours.size());
    std::transform(graph.neighbours.begin(), graph.neighbours.end(), result.neighbours.begin(),
                   [&number](Index neighbour) { return number[neighbour]; });
    return result;
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

/// Calls METIS for 2 parts or more, fewer than vertices. Writes the part of each vertex that has edges; returns the edge cut.
Offset partition_with_metis(MetisGraph graph, Index part_count, const Parameters& parameters, std::vector<Index>& part_of) {
    auto vertices = static_cast<idx_t>(graph.vertices.size());
    idx_t constraints = 1;
    idx_t parts = part_count;
    idx_t cut = 0;
    std::vector<idx_t> found(graph.vertices.size());
    std::array<idx_t, 2 * METIS_NOPTIONS> options{};  // room for integers that are twice as long
    METIS_SetDefaultOptions(options.data());
    if (options[METIS_NOPTIONS] != 0) {
        // The library is in one process with a program that may have brought a METIS of its own under the same names.
        throw MachineError(fmt::format(
            "metis_partition: the METIS in this program has longer integers than the {} bits expected", 8 * sizeof(idx_t)));
    }
    options[METIS_OPTION_SEED] = static_cast<idx_t>(parameters.integer("seed"));
    options[METIS_OPTION_UFACTOR] = allowance(parameters.real("imbalance"), parts, vertices);

    const SilentStandardOutput silence;
    const auto partition = parameters.text("method") == "kway" ? METIS_PartGraphKway : METIS_PartGraphRecursive;
    const int status = partition(&vertices, &constraints, graph.offsets.data(), graph.neighbours.data(), graph.weights.data(),
                                 nullptr, nullptr, &parts, nullptr, nullptr, options.data(), &cut, found.data());
    if (status == METIS_ERROR_MEMORY) {
        throw MachineError(fmt::format("metis_partition: METIS ran out of memory on {} vertices and {} edges", vertices,
                                       graph.neighbours.size() / 2));
    }
    if (status != METIS_OK) throw InputError(fmt::format("metis_partition: METIS gave up with status {}", status));
    for (std::size_t i = 0; i < found.size(); ++i) part_of[graph.vertices[i]] = found[i];
    return cut;
}

/// Vertices in order, in parts of equal size: where METIS is not called.
std::vector<Index> consecutive_parts(Index vertices, Index parts) {
    std::vector<Index> part_of(vertices);
    const Index size = std::max(divide_up(vertices, parts), Index{1});
    for (Index vertex = 0; vertex < vertices; ++vertex) part_of[vertex] = vertex / size;
    return part_of;
}

Cuts cuts_of(const std::vector<Index>& part_of, Index parts, Index node_size) {
    Cuts cuts{CutKind::partition, std::vector<Index>(static_cast<std::size_t>(parts) + 1, 0)};
    for (const Index part : part_of) cuts.boundaries[part + 1] += node_size;
    std::partial_sum(cuts.boundaries.begin(), cuts.boundaries.end(), cuts.boundaries.begin());
    return cuts;
}

StageResult run(const StagedMatrix& staged, const Parameters& parameters, const StageContext& context) {
    const Plan plan = plan_parts(staged, parameters, context);
    const Graph graph = adjacency_graph(staged.matrix, staged.node_size);
    const Index nodes = graph.vertex_count();
    StageResult result;
    const auto note = [&result](std::string what, Offset value, std::string_view unit = "") {
        result.notes.emplace_back(std::move(what), fmt::format("{}{}", value, unit));
    };
    if (plan.rounds) note("K", *plan.rounds);
    note("partitions", plan.parts);
    note("capacity", Offset{plan.capacity} * staged.node_size, " rows");

    std::vector<Index> part_of = consecutive_parts(nodes, plan.parts);
    MetisGraph connected = metis_graph(graph, node_weights(staged, parameters, context));
    if (plan.parts > 1 && std::cmp_less(plan.parts, connected.vertices.size())) {
        const std::vector<Index> vertices = connected.vertices;
        note("edge cut by METIS", partition_with_metis(std::move(connected), plan.parts, parameters, part_of));
        const std::vector<Index> found = part_of;
        fit_partition(graph, part_of, plan.parts, plan.capacity);
        note("rows moved to fit", staged.node_size * std::count_if(vertices.begin(), vertices.end(), [&](Index vertex) {
                                      return part_of[vertex] != found[vertex];
                                  }));
    } else if (plan.parts > 1) {
        result.notes.emplace_back(
            "METIS", fmt::format("not called: {} coupled rows for {} parts",
                                 connected.vertices.size() * static_cast<std::size_t>(staged.node_size), plan.parts));
    }
    note("edge cut", edge_cut(graph, part_of));

    std::vector<Index> order = all_of(nodes);
    stable_sort_by(order, part_of);
    const Permutation node_order = Permutation::from_old_of_new(std::move(order));
    result.change.order = OrderChange{Acts::symmetric, expand(node_order, staged.node_size)};
    if (keeps_partition(parameters)) result.change.cuts = {cuts_of(part_of, plan.parts, staged.node_size)};
    return result;
}

StageContract contract(const Parameters& parameters) {
    require_value_bytes(parameters);
    const bool counts_bytes = parameters.is_word("parts", "auto") || parameters.text("capacity") == "shared_memory" ||
                              parameters.text("weights") == "bytes";
    StageContract contract{.needs = {.square = true}, .acts = Acts::symmetric};
    if (keeps_partition(parameters)) contract.gives_cuts = {CutKind::partition};
    contract.depends_on_precision = counts_bytes && !parameters.has("value_bytes");
    return contract;
}

std::vector<std::string> device_words() {
    std::vector<std::string> words{"present"};
    for (std::string& name : device_model_names()) words.push_back(std::move(name));
    return words;
}

}  // namespace

StageEntry metis_partition_stage() {
    return {
        .name = "metis_partition",
        .summary = "Partition the graph of A + A^T with METIS, gather the rows of each part, and make every part fit",
        .source = "METIS: Karypis, Kumar (1998); number and size of the parts: EHYB section 3.3, eq. 1-2",
        .parameters =
            {{.name = "parts",
              .type = ParameterType::integer,
              .minimum = 1,
              .maximum = 1048576,
              .words = {"auto"},
              .help = "number of parts; auto: the smallest multiple of the device's processors whose parts fit (EHYB eq. 1)"},
             {.name = "method",
              .type = ParameterType::choice,
              .default_value = "kway",
              .words = {"kway", "recursive"},
              .help = "multilevel k-way partitioning, or multilevel recursive bisection"},
             {.name = "weights",
              .type = ParameterType::choice,
              .default_value = "rows",
              .words = {"rows", "nonzeros", "bytes"},
              .help = "what METIS balances; bytes: a value and a 16-bit column for each nonzero, x and y for each row"},
             {.name = "capacity",
              .type = ParameterType::choice,
              .default_value = "vector_size",
              .words = {"vector_size", "shared_memory"},
              .help = "what every part must fit: EHYB eq. 2, rows / parts, or as many rows as shared memory holds values"},
             {.name = "device",
              .type = ParameterType::choice,
              .default_value = "present",
              .words = device_words(),
              .help = "whose processors and shared memory count, for parts = \"auto\" and capacity = \"shared_memory\""},
             value_bytes_parameter("size of a value (tau of EHYB eq. 1)"),
             {.name = "imbalance",
              .type = ParameterType::real,
              .default_value = 1.03,
              .minimum = 1.001,
              .maximum = 2.0,
              .help =
                  "heaviest part over the mean that METIS may leave, at least one row more; rows are moved to fit after it"},
             {.name = "keep",
              .type = ParameterType::choice,
              .default_value = "partition",
              .words = {"partition", "order"},
              .help = "what stages and layouts after it find: the partition, or only the order, which others may then change"},
             {.name = "seed",
              .type = ParameterType::integer,
              .default_value = std::int64_t{1},
              .minimum = 0,
              .maximum = 2147483647,
              .help = "start of METIS's random numbers"}},
        .contract = contract,
        .run = run};
}

}  // namespace workbench
