// Shared by the stages that partition the rows: how many parts of which size, what rows weigh, and what is made of the parts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/contract/stage.hpp"
#include "stages/graph.hpp"

namespace workbench {

/// How many parts, and how many nodes fit into one.
struct PartitionPlan {
    Index parts = 1;
    Index capacity = 0;           // nodes
    std::optional<Index> rounds;  // K of EHYB eq. 1, where it was asked for
};

/// `parts`, `weights`, `capacity`, `device` and `value_bytes`: what plan_parts and node_weights ask for. `balancer`: who
/// balances the weights, for the help.
[[nodiscard]] std::vector<ParameterDeclaration> plan_parameters(const std::string& balancer);

/// `keep`: what contract_of_partition and finish_partition ask for.
[[nodiscard]] ParameterDeclaration keep_parameter();

/// Of a stage with these parameters.
[[nodiscard]] StageContract contract_of_partition(const Parameters& parameters);

/// EHYB eq. 1 and 2, in whole nodes. Throws MachineError where the GPU that is asked for is missing, InputError where the parts
/// cannot hold the rows; `stage` is who asks.
[[nodiscard]] PartitionPlan plan_parts(const StagedMatrix& staged, const Parameters& parameters, const StageContext& context,
                                       std::string_view stage);

/// [nodes] What each weighs; at least 1.
[[nodiscard]] std::vector<Offset> node_weights(const StagedMatrix& staged, const Parameters& parameters,
                                               const StageContext& context);

/// Adds a note with a number.
void note_count(StageResult& result, std::string what, Offset value, std::string_view unit = "");

void note_plan(StageResult& result, const PartitionPlan& plan, Index node_size);

/// Vertices in order, in parts of equal size: where nothing is partitioned.
[[nodiscard]] std::vector<Index> consecutive_parts(Index vertices, Index parts);

/// Are there more vertices with edges than parts, and two parts or more? Otherwise METIS is not to be called, and a note says
/// so.
[[nodiscard]] bool is_for_metis(const Graph& graph, const PartitionPlan& plan, Index node_size, StageResult& result);

/// Moves vertices until every part fits (fit_partition), and notes how many.
void fit_to_plan(const Graph& graph, const PartitionPlan& plan, Index node_size, std::vector<Index>& part_of,
                 StageResult& result);

/// Cuts nodes in an order into pieces of about equal weight, each within the plan's capacity. Returns where each piece begins
/// in the order, and its end: [parts + 1]. `weights`: of each node.
[[nodiscard]] std::vector<Index> equal_pieces(const std::vector<Index>& order, const std::vector<Offset>& weights,
                                              const PartitionPlan& plan);

/// Notes the edge cut, and orders the nodes by their parts, otherwise as they are; with the parts as cuts, if they are kept.
void finish_partition(const StagedMatrix& staged, const Parameters& parameters, const Graph& graph, const PartitionPlan& plan,
                      const std::vector<Index>& part_of, StageResult& result);

}  // namespace workbench
