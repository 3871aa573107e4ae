#include "stages/partition_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/forecast/forecast.hpp"
#include "core/matrix/host_threads.hpp"
#include "core/text/words.hpp"
#include "stages/fit_partition.hpp"
#include "stages/order.hpp"
#include "stages/parameters.hpp"

namespace workbench {
namespace {

std::vector<std::string> device_words() {
    std::vector<std::string> words = device_model_names();
    words.insert(words.begin(), "present");
    return words;
}

}  // namespace

bool keeps_partition(const Parameters& parameters) { return parameters.text("keep") == "partition"; }

void foresee_partition(PatternForecast& pattern, const Parameters& parameters, const StageContext& context) {
    // Measured on finite-element matrices (docs/results/h200-halo): many small parts gather the columns of their rows.
    constexpr Index many_parts = 100;
    constexpr double sectors_of_many = 0.85;
    constexpr double sectors_of_few = 0.99;
    const StagedMatrix skeleton = pattern.skeleton();
    const Index parts = plan_parts(skeleton.matrix.rows, skeleton.node_size, parameters, context, "partition").parts;
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
      plan_(plan_parts(staged.matrix.rows, staged.node_size, parameters, context, stage)),
      graph_(adjacency_graph(staged.matrix, staged.node_size)) {
    if (plan_.rounds) note("K", *plan_.rounds);
    note("partitions", plan_.parts);
    note("capacity", counted(Offset{plan_.capacity} * staged.node_size, "row"));
}

std::vector<Offset> Partitioning::weights() const {
    const RowWeight weight = row_weight(parameters_, context_);
    const Index node_size = staged_.node_size;
    std::vector<Offset> result(graph_.vertex_count(), 0);
    Kokkos::parallel_for("node_weights", HostRange<>(0, graph_.vertex_count()), [&](Index node) {
        for (Index row = node * node_size; row < (node + 1) * node_size; ++row) {
            result[node] += weight(staged_.matrix.row_length(row));
        }
    });
    return result;
}

void Partitioning::note(std::string what, Offset value) { note(std::move(what), std::to_string(value)); }

void Partitioning::note(std::string what, std::string text) { result_.notes.emplace_back(std::move(what), std::move(text)); }

bool Partitioning::is_for_metis() {
    if (plan_.parts == 1) return false;
    Index coupled = 0;
    for (Index vertex = 0; vertex < graph_.vertex_count(); ++vertex) coupled += graph_.degree(vertex) > 0 ? 1 : 0;
    if (plan_.parts < coupled) return true;
    note("METIS", fmt::format("not called: {} for {}", counted(Offset{coupled} * staged_.node_size, "coupled row"),
                              counted(plan_.parts, "part")));
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
        const Index size = std::max((vertices - 1) / plan_.parts + 1, Index{1});
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
    std::vector<Offset> weight_before(order.size() + 1, 0);
    for (std::size_t i = 0; i < order.size(); ++i) weight_before[i + 1] = weight_before[i] + weights[order[i]];
    return pieces_of_weight(weight_before, plan);
}

}  // namespace workbench
