// Shared by the stages that partition the rows: the plan of the parts, the weights of the rows, and the resulting change.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/contract/partition_plan.hpp"
#include "core/contract/stage.hpp"
#include "stages/graph.hpp"

namespace workbench {

/// False: the parts are not kept, only their order (parameter `keep`).
[[nodiscard]] bool keeps_partition(const Parameters& parameters);

/// `parts`, `weights`, `capacity`, `device`, `value_bytes` and `keep`, followed by the stage's own parameters.
[[nodiscard]] std::vector<ParameterDeclaration> partition_parameters(const std::vector<ParameterDeclaration>& own = {});
/// `imbalance`, of stages that call METIS.
[[nodiscard]] ParameterDeclaration imbalance_parameter();

[[nodiscard]] StageContract contract_of_partition(const Parameters& parameters);

/// For StageEntry::foresee.
void foresee_partition(PatternForecast& pattern, const Parameters& parameters, const StageContext& context);

/// The run of a stage that partitions the nodes of a matrix. The arguments must outlive it.
class Partitioning {
public:
    /// Plans the parts by EHYB eq. 1 and 2 in whole nodes, and notes the plan. Throws MachineError if there is no GPU where the
    /// plan depends on it, and InputError if the parts cannot hold the rows.
    Partitioning(const StagedMatrix& staged, const Parameters& parameters, const StageContext& context, std::string_view stage);

    [[nodiscard]] const Graph& graph() const { return graph_; }
    [[nodiscard]] const PartitionPlan& plan() const { return plan_; }

    /// [nodes] The weight of each node, at least 1.
    [[nodiscard]] std::vector<Offset> weights() const;

    void note(std::string what, Offset value);
    void note(std::string what, std::string text);

    /// Calls `find` for the part of each node [nodes], and moves nodes until every part fits (fit_partition). The nodes keep
    /// their order within a part. METIS needs 2 parts or more, and fewer than nodes with edges; otherwise the parts are
    /// consecutive nodes.
    [[nodiscard]] StageResult partition_by(const std::function<std::vector<Index>()>& find);

    /// Orders the nodes, with parts that begin at these places of the order: [parts + 1].
    [[nodiscard]] StageResult cut(std::vector<Index> order, std::vector<Index> begins);

private:
    [[nodiscard]] bool is_for_metis();
    void fit(std::vector<Index>& part_of);

    const StagedMatrix& staged_;
    const Parameters& parameters_;
    const StageContext& context_;
    PartitionPlan plan_;
    Graph graph_;
    StageResult result_;
};

/// Cuts an order of nodes into pieces of about equal weight, each within the capacity of the plan. Returns the begin of each
/// piece in the order, and the end: [parts + 1]. weights: [nodes].
[[nodiscard]] std::vector<Index> equal_pieces(const std::vector<Index>& order, const std::vector<Offset>& weights,
                                              const PartitionPlan& plan);

}  // namespace workbench
