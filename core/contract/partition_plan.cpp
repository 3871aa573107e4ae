#include "core/contract/partition_plan.hpp"

#include <algorithm>
#include <string>

#include "core/contract/errors.hpp"
#include "core/text/suggestion.hpp"

namespace workbench {
namespace {

/// Columns relative to the begin of a part are stored in 16 bits (EHYB section 3.4).
constexpr Index rows_of_16_bit_columns = 65536;
constexpr std::int64_t column_bytes = 2;

Index divide_up(std::int64_t a, std::int64_t b) { return static_cast<Index>((a + b - 1) / b); }

const DeviceProperties& device_for(const Parameters& parameters, const StageContext& context, const std::string& stage) {
    const std::string& name = parameters.text("device");
    if (name != "present") return *find_device_model(name);
    if (context.device != nullptr) return *context.device;
    throw MachineError(stage + ": device = \"present\" needs the GPU of this machine, but there is none; name a model (" +
                       join(device_model_names()) + ") or give parts as a number with capacity = \"vector_size\"");
}

/// The maximum number of nodes whose slice of x fits into the shared memory of a block. Eq. 1 requires strictly less, which
/// leaves space for the counter that the warps of a block share.
Index nodes_in_shared_memory(const DeviceProperties& device, std::int64_t value_bytes, Index node_size,
                             const std::string& stage) {
    const auto bytes = static_cast<std::int64_t>(device.shared_memory_per_block);
    const std::int64_t rows = std::min<std::int64_t>((bytes - 1) / value_bytes, rows_of_16_bit_columns);
    if (bytes == 0 || rows < node_size) {
        throw InputError(stage + ": " + std::to_string(bytes) + " bytes of shared memory (" + device.name +
                         ") cannot hold one node of " + std::to_string(node_size) + " rows");
    }
    return static_cast<Index>(rows / node_size);
}

/// weight_before(i): the weight of the first i nodes, for i up to `nodes`.
template <typename WeightBefore>
std::vector<Index> cut_evenly(Offset nodes, const WeightBefore& weight_before, const PartitionPlan& plan) {
    const auto weight = [&](Offset count) { return static_cast<double>(weight_before(count)); };
    std::vector<Index> boundaries{0};
    for (Index part = 1; part <= plan.parts; ++part) {
        // The boundary whose preceding weight is nearest to the share of the pieces before it.
        const double share = weight(nodes) * part / plan.parts;
        Offset at = 0;
        for (Offset end = nodes; at < end;) {
            const Offset middle = at + (end - at) / 2;
            if (weight(middle) < share) {
                at = middle + 1;
            } else {
                end = middle;
            }
        }
        if (at > 0 && share - weight(at - 1) < weight(at) - share) --at;
        // Neither this piece nor the following ones may exceed the capacity.
        const Offset least = std::max<Offset>(boundaries.back(), nodes - Offset{plan.parts - part} * plan.capacity);
        const Offset most = std::min<Offset>(Offset{boundaries.back()} + plan.capacity, nodes);
        boundaries.push_back(static_cast<Index>(std::clamp<Offset>(at, least, most)));
    }
    return boundaries;
}

}  // namespace

PartitionPlan plan_parts(Index rows, Index node_size, const Parameters& parameters, const StageContext& context,
                         std::string_view stage) {
    const std::string name(stage);
    const Index nodes = rows / node_size;
    const bool automatic = parameters.is_word("parts", "auto");
    const bool fill_shared_memory = parameters.text("capacity") == "shared_memory";
    PartitionPlan plan;
    if (!automatic) plan.parts = static_cast<Index>(parameters.integer("parts"));
    if (automatic || fill_shared_memory) {
        const DeviceProperties& device = device_for(parameters, context, name);
        plan.capacity = nodes_in_shared_memory(device, bytes_of_value(parameters, context), node_size, name);
        if (automatic) {
            // Eq. 1: the smallest K for which K x processors equal parts fit. In whole nodes, so that the largest part of eq. 2
            // also fits.
            plan.rounds = std::max(divide_up(nodes, std::int64_t{device.processors} * plan.capacity), Index{1});
            plan.parts = *plan.rounds * device.processors;
        }
    }
    if (!fill_shared_memory) plan.capacity = divide_up(nodes, plan.parts);  // eq. 2
    if (std::int64_t{plan.parts} * plan.capacity < nodes) {
        throw InputError(name + ": parts = " + std::to_string(plan.parts) + " of at most " +
                         std::to_string(plan.capacity * node_size) + " rows (capacity = \"shared_memory\") cannot hold " +
                         std::to_string(rows) + " rows; give at least " + std::to_string(divide_up(nodes, plan.capacity)) +
                         " parts");
    }
    return plan;
}

RowWeight row_weight(const Parameters& parameters, const StageContext& context) {
    const std::string& weights = parameters.text("weights");
    if (weights == "rows") return {};
    if (weights == "nonzeros") return {.of_row = 0, .of_nonzero = 1};
    const std::int64_t value = bytes_of_value(parameters, context);  // of the matrix, x and y
    return {.of_row = 2 * value, .of_nonzero = value + column_bytes};
}

std::vector<Index> pieces_of_weight(std::span<const Offset> weight_before, const PartitionPlan& plan) {
    return cut_evenly(
        std::ssize(weight_before) - 1, [&](Offset count) { return weight_before[count]; }, plan);
}

std::vector<Index> pieces_of_rows(std::span<const std::uint32_t> offsets, std::span<const Index> nodes, Index node_size,
                                  const RowWeight& weight, const PartitionPlan& plan) {
    std::vector<Offset> weight_before{0};
    for (const Index node : nodes) {
        Offset sum = weight_before.back();
        for (Index row = node * node_size; row < (node + 1) * node_size; ++row) {
            sum += weight(Offset{offsets[row + 1]} - offsets[row]);
        }
        weight_before.push_back(sum);
    }
    return pieces_of_weight(weight_before, plan);
}

std::vector<Index> pieces_of_nodes(Index nodes, const PartitionPlan& plan) {
    return cut_evenly(
        nodes, [](Offset count) { return count; }, plan);
}

}  // namespace workbench
