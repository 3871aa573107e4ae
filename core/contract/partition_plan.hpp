// The number and the sizes of the parts of a partition, for stages and for devices that prepare a matrix as a whole.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/contract/stage.hpp"

namespace workbench {

struct PartitionPlan {
    Index parts = 1;
    Index capacity = 0;           // nodes per part
    std::optional<Index> rounds;  // K of EHYB eq. 1, if the number of parts is automatic
};

/// Plans the parts by EHYB eq. 1 and 2 in whole nodes, from the parameters of a stage that partitions (partition_parameters).
/// Throws MachineError if there is no GPU where the plan depends on it, and InputError if the parts cannot hold the rows.
[[nodiscard]] PartitionPlan plan_parts(Index rows, Index node_size, const Parameters& parameters, const StageContext& context,
                                       std::string_view stage);

/// The weight of a row by its nonzeros.
struct RowWeight {
    Offset of_row = 1;
    Offset of_nonzero = 0;

    [[nodiscard]] Offset operator()(Offset nonzeros) const { return std::max(of_row + nonzeros * of_nonzero, Offset{1}); }
    [[nodiscard]] bool is_equal() const { return of_nonzero == 0; }
};

/// As the parameter `weights` of such a stage says.
[[nodiscard]] RowWeight row_weight(const Parameters& parameters, const StageContext& context);

/// Cuts consecutive nodes into pieces of about equal weight, each within the capacity of the plan. Returns the begin of each
/// piece, and the end: [parts + 1]. weight_before: [nodes + 1] the weight of all nodes before each, and of all.
[[nodiscard]] std::vector<Index> pieces_of_weight(std::span<const Offset> weight_before, const PartitionPlan& plan);
/// Likewise for nodes in an order, by the offsets of their rows. offsets: [rows + 1], nodes: [rows / node_size] in their order.
[[nodiscard]] std::vector<Index> pieces_of_rows(std::span<const std::uint32_t> offsets, std::span<const Index> nodes,
                                                Index node_size, const RowWeight& weight, const PartitionPlan& plan);
/// Likewise for nodes of weight 1.
[[nodiscard]] std::vector<Index> pieces_of_nodes(Index nodes, const PartitionPlan& plan);

}  // namespace workbench
