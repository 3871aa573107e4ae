#include "stages/partition_stage.hpp"

#include <fmt/format.h>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include "pipeline/contract/errors.hpp"
#include "stages/fit_partition.hpp"
#include "stages/order.hpp"
#include "stages/value_bytes.hpp"

namespace workbench {
namespace {

using Range = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<Index>>;

/// Columns relative to the start of a part are stored in 16 bits (EHYB section 3.4).
constexpr Index rows_of_16_bit_columns = 65536;
/// Bytes of such a column.
constexpr std::int64_t column_bytes = 2;

Index divide_up(std::int64_t a, std::int64_t b) { return static_cast<Index>((a + b - 1) / b); }

const DeviceProperties& device_for(const Parameters& parameters, const StageContext& context, std::string_view stage) {
    const std::string& name = parameters.text("device");
    if (name != "present") return *find_device_model(name);
    if (context.device != nullptr) return *context.device;
    std::string models;
    for (const std::string& model : device_model_names()) models += (models.empty() ? "" : ", ") + model;
    throw MachineError(
        fmt::format("{}: device = \"present\" asks for the GPU of this machine, and there is none; name a model ({}) "
                    "or give parts as a number with capacity = \"vector_size\"",
                    stage, models));
}

/// The most nodes whose slice of x fits into the shared memory of a block. Eq. 1 demands strictly less, which leaves room for
/// the counter that the warps of a block share.
Index nodes_in_shared_memory(const DeviceProperties& device, std::int64_t value_bytes, Index node_size,
                             std::string_view stage) {
    const auto bytes = static_cast<std::int64_t>(device.shared_memory_per_block);
    const std::int64_t rows = std::min<std::int64_t>((bytes - 1) / value_bytes, rows_of_16_bit_columns);
    if (bytes == 0 || rows < node_size) {
        throw InputError(fmt::format("{}: {} bytes of shared memory ({}) do not hold one node of {} rows", stage, bytes,
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

Cuts cuts_of(const std::vector<Index>& part_of, Index parts, Index node_size) {
    Cuts cuts{CutKind::partition, std::vector<Index>(static_cast<std::size_t>(parts) + 1, 0)};
    for (const Index part : part_of) cuts.boundaries[part + 1] += node_size;
    std::partial_sum(cuts.boundaries.begin(), cuts.boundaries.end(), cuts.boundaries.begin());
    return cuts;
}

std::vector<std::string> device_words() {
    std::vector<std::string> words{"present"};
    for (std::string& name : device_model_names()) words.push_back(std::move(name));
    return words;
}

}  // namespace

std::vector<ParameterDeclaration> plan_parameters(const std::string& balancer) {
    return {
        {.name = "parts",
         .type = ParameterType::integer,
         .minimum = 1,
         .maximum = 1048576,
         .words = {"auto"},
         .help = "number of parts; auto: the smallest multiple of the device's processors whose parts fit (EHYB eq. 1)"},
        {.name = "weights",
         .type = ParameterType::choice,
         .default_value = "rows",
         .words = {"rows", "nonzeros", "bytes"},
         .help = "what " + balancer + " balances; bytes: a value and a 16-bit column for each nonzero, x and y for each row"},
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
        value_bytes_parameter("size of a value (tau of EHYB eq. 1)")};
}

ParameterDeclaration keep_parameter() {
    return {.name = "keep",
            .type = ParameterType::choice,
            .default_value = "partition",
            .words = {"partition", "order"},
            .help = "what stages and layouts after it find: the partition, or only the order, which others may then change"};
}

StageContract contract_of_partition(const Parameters& parameters) {
    require_value_bytes(parameters);
    const bool counts_bytes = parameters.is_word("parts", "auto") || parameters.text("capacity") == "shared_memory" ||
                              parameters.text("weights") == "bytes";
    StageContract contract{.needs = {.square = true}, .acts = Acts::symmetric};
    if (keeps_partition(parameters)) contract.gives_cuts = {CutKind::partition};
    contract.depends_on_precision = counts_bytes && !parameters.has("value_bytes");
    return contract;
}

PartitionPlan plan_parts(const StagedMatrix& staged, const Parameters& parameters, const StageContext& context,
                         std::string_view stage) {
    const Index nodes = staged.matrix.rows / staged.node_size;
    const bool automatic = parameters.is_word("parts", "auto");
    const bool fill_shared_memory = parameters.text("capacity") == "shared_memory";
    PartitionPlan plan;
    if (!automatic) plan.parts = static_cast<Index>(parameters.integer("parts"));
    if (automatic || fill_shared_memory) {
        const DeviceProperties& device = device_for(parameters, context, stage);
        plan.capacity = nodes_in_shared_memory(device, bytes_of_value(parameters, context), staged.node_size, stage);
        if (automatic) {
            plan.rounds = smallest_round_count(nodes, device.processors, plan.capacity);
            plan.parts = *plan.rounds * device.processors;
        }
    }
    // Eq. 2, in whole nodes.
    if (!fill_shared_memory) plan.capacity = divide_up(nodes, plan.parts);
    if (std::int64_t{plan.parts} * plan.capacity < nodes) {
        throw InputError(fmt::format(
            "{}: parts = {} of at most {} rows (capacity = \"shared_memory\") cannot hold {} rows; "
            "give at least {} parts",
            stage, plan.parts, plan.capacity * staged.node_size, staged.matrix.rows, divide_up(nodes, plan.capacity)));
    }
    return plan;
}

std::vector<Offset> node_weights(const StagedMatrix& staged, const Parameters& parameters, const StageContext& context) {
    const std::string& weights = parameters.text("weights");
    const std::int64_t value_bytes = bytes_of_value(parameters, context);
    const auto weight_of = [&](Index row) -> std::int64_t {
        const Offset length = staged.matrix.row_length(row);
        if (weights == "nonzeros") return std::max(length, Offset{1});
        if (weights == "bytes") return length * (value_bytes + column_bytes) + 2 * value_bytes;
        return 1;
    };
    std::vector<Offset> result(staged.matrix.rows / staged.node_size, 0);
    Kokkos::parallel_for("node_weights", Range(0, static_cast<Index>(result.size())), [&](Index node) {
        for (Index row = node * staged.node_size; row < (node + 1) * staged.node_size; ++row) result[node] += weight_of(row);
    });
    return result;
}

void note_count(StageResult& result, std::string what, Offset value, std::string_view unit) {
    result.notes.emplace_back(std::move(what), fmt::format("{}{}", value, unit));
}

void note_plan(StageResult& result, const PartitionPlan& plan, Index node_size) {
    if (plan.rounds) note_count(result, "K", *plan.rounds);
    note_count(result, "partitions", plan.parts);
    note_count(result, "capacity", Offset{plan.capacity} * node_size, " rows");
}

/// Vertices in order, in parts of equal size: where METIS is not called.
std::vector<Index> consecutive_parts(Index vertices, Index parts) {
    std::vector<Index> part_of(vertices);
    const Index size = std::max(divide_up(vertices, parts), Index{1});
    for (Index vertex = 0; vertex < vertices; ++vertex) part_of[vertex] = vertex / size;
    return part_of;
}

bool is_for_metis(const Graph& graph, const PartitionPlan& plan, Index node_size, StageResult& result) {
    if (plan.parts == 1) return false;
    Index coupled = 0;
    for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) coupled += graph.degree(vertex) > 0 ? 1 : 0;
    if (plan.parts < coupled) return true;
    result.notes.emplace_back("METIS",
                              fmt::format("not called: {} coupled rows for {} parts", Offset{coupled} * node_size, plan.parts));
    return false;
}

void fit_to_plan(const Graph& graph, const PartitionPlan& plan, Index node_size, std::vector<Index>& part_of,
                 StageResult& result) {
    const std::vector<Index> found = part_of;
    fit_partition(graph, part_of, plan.parts, plan.capacity);
    Offset moved = 0;
    for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) {
        moved += graph.degree(vertex) > 0 && part_of[vertex] != found[vertex] ? 1 : 0;
    }
    note_count(result, "rows moved to fit", node_size * moved);
}

std::vector<Index> equal_pieces(const std::vector<Index>& order, const std::vector<Offset>& weights,
                                const PartitionPlan& plan) {
    const auto nodes = static_cast<Offset>(order.size());
    std::vector<Offset> weight_before(order.size() + 1, 0);
    for (std::size_t i = 0; i < order.size(); ++i) weight_before[i + 1] = weight_before[i] + weights[order[i]];
    std::vector<Index> boundaries{0};
    for (Index part = 1; part <= plan.parts; ++part) {
        // The first boundary with no less weight before it than its share; or the last before that, where it is nearer.
        const double share = static_cast<double>(weight_before.back()) * part / plan.parts;
        auto at = std::lower_bound(weight_before.begin(), weight_before.end(), share,
                                   [](Offset weight, double wanted) { return static_cast<double>(weight) < wanted; });
        if (at == weight_before.end()) --at;
        if (at != weight_before.begin() && share - static_cast<double>(*(at - 1)) < static_cast<double>(*at) - share) --at;
        // Neither this piece nor those after it may have too many nodes.
        const Offset least = std::max<Offset>(boundaries.back(), nodes - Offset{plan.parts - part} * plan.capacity);
        const Offset most = std::min<Offset>(Offset{boundaries.back()} + plan.capacity, nodes);
        boundaries.push_back(static_cast<Index>(std::clamp<Offset>(at - weight_before.begin(), least, most)));
    }
    return boundaries;
}

void finish_partition(const StagedMatrix& staged, const Parameters& parameters, const Graph& graph, const PartitionPlan& plan,
                      const std::vector<Index>& part_of, StageResult& result) {
    note_count(result, "edge cut", edge_cut(graph, part_of));
    std::vector<Index> order = all_of(graph.vertex_count());
    stable_sort_by(order, part_of);
    const Permutation node_order = Permutation::from_old_of_new(std::move(order));
    result.change.order = OrderChange{Acts::symmetric, expand(node_order, staged.node_size)};
    if (keeps_partition(parameters)) result.change.cuts = {cuts_of(part_of, plan.parts, staged.node_size)};
}

}  // namespace workbench
