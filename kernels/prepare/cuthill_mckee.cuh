// Orders of the graph of a matrix that is on the GPU: Cuthill-McKee, and by degrees.
#pragma once

#include <optional>
#include <vector>

#include "core/contract/device_plan.hpp"
#include "kernels/primitives/workspace.cuh"

namespace workbench {

/// The pattern of a matrix in CSR on the GPU, which is square wherever it is a graph. The columns of a row ascend strictly.
struct PatternOnGpu {
    Index vertices = 0;                      // rows
    const std::uint32_t* offsets = nullptr;  // [vertices + 1]
    const Index* columns = nullptr;          // [nonzeros]
};

/// Nodes of `size` rows in an order.
struct NodesOnGpu {
    PatternOnGpu rows;
    const Index* old_of_new = nullptr;  // [count] nodes; null: in the order of the pattern
    Index count = 0;
    Index size = 1;
    Index columns = 0;  // of the matrix
};

struct OrderOnGpu {
    WorkspaceArray<Index> old_of_new;  // [vertices]
    Index components = 0;
};

/// The old node in each place, as the stages row_sort and nonlinear_hash place them: each part of the partition is a group, or
/// all nodes are. longest: row of the pattern. Nodes are rows unless their key is the number of nonzeros.
[[nodiscard]] WorkspaceArray<std::uint32_t> placed_nodes(Workspace& workspace, const NodesOnGpu& nodes, const SortRows& sort,
                                                         const std::vector<Index>& partition, std::uint32_t longest);

/// Rows to place, group by group. Offsets fit into 32 bits.
struct RowsToPlace {
    const Offset* offsets = nullptr;  // [count + 1]
    const Index* columns = nullptr;   // of their entries; only for keys that depend on them
    Index count = 0;
    Index column_count = 0;
    const Index* groups = nullptr;  // [group_count + 1] boundaries
    Index group_count = 0;
    std::uint32_t longest = 0;  // row, or more
    // Only for the key inside a partition, where these are the rows of a share.
    const Index* partition = nullptr;  // [parts + 1] boundaries
    Index parts = 0;
    const Index* numbers = nullptr;  // [count] of the rows in the matrix
};

/// The row in each place.
[[nodiscard]] WorkspaceArray<std::uint32_t> placed_rows(Workspace& workspace, const RowsToPlace& rows, const RowPlacing& how);

/// The order of the stage degree_sort. Returns nothing if the pattern is not symmetric. At least one vertex.
[[nodiscard]] std::optional<WorkspaceArray<Index>> degree_order_on_gpu(Workspace& workspace, const PatternOnGpu& pattern,
                                                                       bool descending);

/// The order of the stage cuthill_mckee. Returns nothing if the host is faster or the pattern has no symmetric graph: entries
/// without their counterpart, rows of more than 1,024 entries, more than 64 components with edges, or more than 16,384 levels.
/// At least one vertex.
[[nodiscard]] std::optional<OrderOnGpu> cuthill_mckee_on_gpu(Workspace& workspace, const PatternOnGpu& pattern, bool reversed);

}  // namespace workbench
