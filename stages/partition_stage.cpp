#include "stages/partition_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "pipeline/contract/errors.hpp"
#include "pipeline/contract/forecast.hpp"
#include "pipeline/contract/suggestion.hpp"
#include "pipeline/matrix/host_threads.hpp"
#include "stages/fit_partition.hpp"
#include "stages/order.hpp"
#include "stages/parameters.hpp"

namespace workbench {
namespace {

/// Columns relative to the begin of a part are stored in 16 bits (EHYB section 3.4).
constexpr Index rows_of_16_bit_columns = 65536;
constexpr std::int64_t column_bytes = 2;

Index divide_up(std::int64_t a, std::int64_t b) { return static_cast<Index>((a + b - 1) / b); }

const DeviceProperties& device_for(const Parameters& parameters, const StageContext& context, std::string_view stage) {
    const std::string& name = parameters.text("device");
    if (name != "present") return *find_device_model(name);
    if (context.device != nullptr) return *context.device;
    throw MachineError(fmt::format(
        "{}: device = \"present\" needs the GPU of this machine, but there is none; name a model ({}) or give parts as "
        "a number with capacity = \"vector_size\"",
        stage, join(device_model_names())));
}

/// The maximum number of nodes whose slice of x fits into the shared memory of a block. Eq. 1 requires strictly less, which
/// leaves space for the counter that the warps of a block share.
Index nodes_in_shared_memory(const DeviceProperties& device, std::int64_t value_bytes, Index node_size,
                             std::string_view stage) {
    const auto bytes = static_cast<std::int64_t>(device.shared_memory_per_block);
    const std::int64_t rows = std::min<std::int64_t>((bytes - 1) / value_bytes, rows_of_16_bit_columns);
    if (bytes == 0 || rows < node_size) {
        throw InputError(fmt::format("{}: {} bytes of shared memory ({}) cannot hold one node of {} rows", stage, bytes,
                                     device.name, node_size));
    }
    return static_cast<Index>(rows / node_size);
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
            // Eq. 1: the smallest K for which K x processors equal parts fit. In whole nodes, so that the largest part of eq. 2
            // fits, too.
            plan.rounds = std::max(divide_up(nodes, std::int64_t{device.processors} * plan.capacity), Index{1});
            plan.parts = *plan.rounds * device.processors;
        }
    }
    if (!fill_shared_memory) plan.capacity = divide_up(nodes, plan.parts);  // eq. 2
    if (std::int64_t{plan.parts} * plan.capacity < nodes) {
        throw InputError(fmt::format(
            "{}: parts = {} of at most {} rows (capacity = \"shared_memory\") cannot hold {} rows; give at least {} parts",
            stage, plan.parts, plan.capacity * staged.node_size, staged.matrix.rows, divide_up(nodes, plan.capacity)));
    }
    return plan;
}

std::vector<std::string> device_words() {
    std::vector<std::string> words = device_model_names();
    words.insert(words.begin(), "present");
    return words;
}

bool keeps_partition(const Parameters& parameters) { return parameters.text("keep") == "partition"; }

}  // namespace

void foresee_partition(PatternForecast& pattern, const Parameters& parameters, const StageContext& context) {
    // Measured on finite-element matrices (docs/results/h200-halo): many small parts gather the columns of their rows.
    constexpr Index many_parts = 100;
    constexpr double sectors_of_many = 0.85;
    constexpr double sectors_of_few = 0.99;
    const StagedMatrix skeleton = pattern.skeleton();
    const Index parts = plan_parts(skeleton, parameters, context, "partition").parts;
    if (!keeps_partition(parameters)) pattern.reorder(parts >= many_parts ? sectors_of_many : sectors_of_few);
    pattern.set_partition(parts);
}

std::vector<ParameterDeclaration> partition_parameters(const std::vector<ParameterDeclaration>& own) {
    std::vector<ParameterDeclaration> all{
        integer_parameter(
            "parts", required, between(1, 1048576, "", {"auto"}),
            "number of parts; auto: the smallest multiple of the device's processors whose parts fit (EHYB eq. 1)"),
        choice_parameter("weights", by_default("rows"), {"rows", "nonzeros", "bytes"},
                         "the quantity that parts balance; bytes: a value and a 16-bit column per nonzero, x and y per row"),
        choice_parameter("capacity", by_default("vector_size"), {"vector_size", "shared_memory"},
                         "maximum size of a part: rows / parts (EHYB eq. 2), or the rows whose x fits into shared memory"),
        choice_parameter("device", by_default("present"), device_words(),
                         "the device whose processors and shared memory count for \"auto\" and \"shared_memory\""),
        value_bytes_parameter("size of a value (tau of EHYB eq. 1)"),
        choice_parameter("keep", by_default("partition"), {"partition", "order"},
                         "keep the partition for later stages and layouts, or only the order")};
    all.insert(all.end(), own.begin(), own.end());
    return all;
}

ParameterDeclaration imbalance_parameter() {
    return real_parameter("imbalance", by_default(1.03), between(1.001, 2),
                          "heaviest part over the mean (at least one row more) before rows are moved to make parts fit");
}

StageContract contract_of_partition(const Parameters& parameters) {
    require_value_bytes(parameters);
    const bool counts_bytes = parameters.is_word("parts", "auto") || parameters.text("capacity") == "shared_memory" ||
                              parameters.text("weights") == "bytes";
    StageContract contract = contract_of_symmetric_order(parameters);
    if (keeps_partition(parameters)) contract.gives_cuts = {CutKind::partition};
    contract.depends_on_precision = counts_bytes && !parameters.has("value_bytes");
    return contract;
}

Partitioning::Partitioning(const StagedMatrix& staged, const Parameters& parameters, const StageContext& context,
                           std::string_view stage)
    : staged_(staged),
      parameters_(parameters),
      context_(context),
      plan_(plan_parts(staged, parameters, context, stage)),
      graph_(adjacency_graph(staged.matrix, staged.node_size)) {
    if (plan_.rounds) note("K", *plan_.rounds);
    note("partitions", plan_.parts);
    note("capacity", Offset{plan_.capacity} * staged.node_size, " rows");
}

std::vector<Offset> Partitioning::weights() const {
    const std::string& weights = parameters_.text("weights");
    const std::int64_t value_bytes = bytes_of_value(parameters_, context_);
    const auto weight_of = [&](Index row) -> std::int64_t {
        const Offset length = staged_.matrix.row_length(row);
        if (weights == "nonzeros") return std::max(length, Offset{1});
        if (weights == "bytes") return length * (value_bytes + column_bytes) + 2 * value_bytes;
        return 1;
    };
    const Index node_size = staged_.node_size;
    std::vector<Offset> result(graph_.vertex_count(), 0);
    Kokkos::parallel_for("node_weights", HostRange<>(0, graph_.vertex_count()), [&](Index node) {
        for (Index row = node * node_size; row < (node + 1) * node_size; ++row) result[node] += weight_of(row);
    });
    return result;
}

void Partitioning::note(std::string what, Offset value, std::string_view unit) {
    note(std::move(what), fmt::format("{}{}", value, unit));
}

void Partitioning::note(std::string what, std::string text) { result_.notes.emplace_back(std::move(what), std::move(text)); }

bool Partitioning::is_for_metis() {
    if (plan_.parts == 1) return false;
    Index coupled = 0;
    for (Index vertex = 0; vertex < graph_.vertex_count(); ++vertex) coupled += graph_.degree(vertex) > 0 ? 1 : 0;
    if (plan_.parts < coupled) return true;
    note("METIS", fmt::format("not called: {} coupled rows for {} parts", Offset{coupled} * staged_.node_size, plan_.parts));
    return false;
}

void Partitioning::fit(std::vector<Index>& part_of) {
    const std::vector<Index> found = part_of;
    fit_partition(graph_, part_of, plan_.parts, plan_.capacity);
    Offset moved = 0;
    for (Index vertex = 0; vertex < graph_.vertex_count(); ++vertex) {
        moved += graph_.degree(vertex) > 0 && part_of[vertex] != found[vertex] ? 1 : 0;
    }
    note("rows moved to fit", staged_.node_size * moved);
}

StageResult Partitioning::partition_by(const std::function<std::vector<Index>()>& find) {
    const Index vertices = graph_.vertex_count();
    std::vector<Index> part_of(vertices);
    if (is_for_metis()) {
        part_of = find();
        fit(part_of);
    } else {
        const Index size = std::max(divide_up(vertices, plan_.parts), Index{1});
        for (Index vertex = 0; vertex < vertices; ++vertex) part_of[vertex] = vertex / size;
    }
    std::vector<Index> begins(static_cast<std::size_t>(plan_.parts) + 1, 0);
    for (const Index part : part_of) ++begins[part + 1];
    for (Index part = 0; part < plan_.parts; ++part) begins[part + 1] += begins[part];
    std::vector<Index> order = all_of(vertices);
    stable_sort_by(order, part_of);
    return cut(std::move(order), std::move(begins));
}

StageResult Partitioning::cut(std::vector<Index> order, std::vector<Index> begins) {
    std::vector<Index> part_of(order.size());
    for (Index part = 0; part < plan_.parts; ++part) {
        for (Index i = begins[part]; i < begins[part + 1]; ++i) part_of[order[i]] = part;
    }
    note("edge cut", edge_cut(graph_, part_of));
    result_.change.order = order_of_nodes(std::move(order), staged_.node_size);
    for (Index& begin : begins) begin *= staged_.node_size;
    if (keeps_partition(parameters_)) result_.change.cuts = {{CutKind::partition, std::move(begins)}};
    return std::move(result_);
}

std::vector<Index> equal_pieces(const std::vector<Index>& order, const std::vector<Offset>& weights,
                                const PartitionPlan& plan) {
    const auto nodes = static_cast<Offset>(order.size());
    std::vector<Offset> weight_before(order.size() + 1, 0);
    for (std::size_t i = 0; i < order.size(); ++i) weight_before[i + 1] = weight_before[i] + weights[order[i]];
    std::vector<Index> boundaries{0};
    for (Index part = 1; part <= plan.parts; ++part) {
        // The boundary whose preceding weight is nearest to the share of the pieces before it.
        const double share = static_cast<double>(weight_before.back()) * part / plan.parts;
        auto at = std::lower_bound(weight_before.begin(), weight_before.end(), share,
                                   [](Offset weight, double wanted) { return static_cast<double>(weight) < wanted; });
        if (at == weight_before.end()) --at;
        if (at != weight_before.begin() && share - static_cast<double>(*(at - 1)) < static_cast<double>(*at) - share) --at;
        // Neither this piece nor the following ones may exceed the capacity.
        const Offset least = std::max<Offset>(boundaries.back(), nodes - Offset{plan.parts - part} * plan.capacity);
        const Offset most = std::min<Offset>(Offset{boundaries.back()} + plan.capacity, nodes);
        boundaries.push_back(static_cast<Index>(std::clamp<Offset>(at - weight_before.begin(), least, most)));
    }
    return boundaries;
}

}  // namespace workbench
