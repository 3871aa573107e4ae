// Orders of the graph of a matrix that is on the GPU: Cuthill-McKee, and by degrees.
#pragma once

#include <optional>
#include <vector>

#include "core/contract/device_plan.hpp"
#include "kernels/primitives/workspace.cuh"

namespace workbench {

/// The pattern of a square matrix in CSR on the GPU. The columns of a row ascend strictly.
struct PatternOnGpu {
    Index vertices = 0;
    const std::uint32_t* offsets = nullptr;  // [vertices + 1]
    const Index* columns = nullptr;          // [nonzeros]
};

/// Nodes of `size` rows in an order.
struct NodesOnGpu {
    PatternOnGpu rows;
    const Index* old_of_new = nullptr;  // [count] nodes; null: in the order of the pattern
    Index count = 0;
    Index size = 1;
};

struct OrderOnGpu {
    WorkspaceArray<Index> old_of_new;  // [vertices]
    Index components = 0;
};

/// The old node in each place, as the stages row_sort and nonlinear_hash place them: each part of the partition is a group, or
/// all nodes are. longest: row of the pattern. Nodes are rows unless their key is the number of nonzeros.
[[nodiscard]] WorkspaceArray<std::uint32_t> placed_nodes(Workspace& workspace, const NodesOnGpu& nodes, const SortRows& sort,
                                                         const std::vector<Index>& partition, std::uint32_t longest);

/// The order of the stage degree_sort. Returns nothing if the pattern is not symmetric. At least one vertex.
[[nodiscard]] std::optional<WorkspaceArray<Index>> degree_order_on_gpu(Workspace& workspace, const PatternOnGpu& pattern,
                                                                       bool descending);

/// The order of the stage cuthill_mckee. Returns nothing if the host is faster or the pattern has no symmetric graph: entries
/// without their counterpart, rows of more than 1,024 entries, more than 64 components with edges, or more than 16,384 levels.
/// At least one vertex.
[[nodiscard]] std::optional<OrderOnGpu> cuthill_mckee_on_gpu(Workspace& workspace, const PatternOnGpu& pattern, bool reversed);

}  // namespace workbench
