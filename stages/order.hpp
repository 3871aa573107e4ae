// Shared by the stages that reorder.
#pragma once

#include <span>
#include <vector>

#include "core/contract/stage.hpp"
#include "core/matrix/permutation.hpp"
#include "core/matrix/share_matrix.hpp"
#include "core/matrix/staged_matrix.hpp"

namespace workbench {

/// The row order that follows from a node order: the rows of a node stay together and in order.
[[nodiscard]] Permutation expand(const Permutation& node_order, Index node_size);

/// The change that brings nodes, and so their rows or columns, into a new order. old_of_new: [nodes].
[[nodiscard]] OrderChange order_of_nodes(std::vector<Index> old_of_new, Index node_size, Acts acts = Acts::symmetric);

/// The contract of a stage that orders rows and columns alike by the graph of A + A^T, or the storage of a share.
[[nodiscard]] StageContract contract_of_symmetric_order(const Parameters& parameters);

/// The parameter `share` of such a stage.
[[nodiscard]] ParameterDeclaration storage_parameter();

/// The contract of a stage that orders the storage of the share in `share`.
[[nodiscard]] StageContract contract_of_storage(const Parameters& parameters, bool square);

/// The order of storage of a share in which its rows follow the order that a stage found for the share's matrix.
[[nodiscard]] StageResult storage_of_order(StageResult result, const ShareMatrix& share, const ShareView& view,
                                           const ShareId& id);

/// The run of a stage that orders the matrix, or the storage of the share in `share` by the order of the share's matrix, which
/// has all rows if the order acts on rows and columns alike, otherwise the rows present.
template <auto run_order, RowsOfShare rows = RowsOfShare::all>
StageResult order_or_storage(const StagedMatrix& staged, const Parameters& parameters, const StageContext& context) {
    if (!parameters.has("share")) return run_order(staged, parameters, context);
    const ShareId id = single_share(parameters.text("share")).value();
    const ShareMatrix share = matrix_of_share(staged, id, rows);
    return storage_of_order(run_order(share.staged, parameters, context), share, staged.share(id), id);
}

/// The contract of a stage with an apply_parameter.
[[nodiscard]] StageContract contract_of_order(const Parameters& parameters);

/// For StageEntry::foresee of orders that bring rows with common columns together, and of orders that move them apart. The
/// numbers are those of Cuthill-McKee and of random orders on finite-element matrices (docs/results/orders.md).
void foresee_gathered_rows(PatternForecast& pattern, const Parameters& parameters, const StageContext& context);
void foresee_scattered_rows(PatternForecast& pattern, const Parameters& parameters, const StageContext& context);

/// 0, 1, ..., size - 1.
[[nodiscard]] std::vector<Index> all_of(Index size);

/// Sorts a list of items by keys[item] >= 0, ascending and stable. A counting sort, linear in the list and the largest key.
void stable_sort_by(std::vector<Index>& list, std::span<const Index> keys);

/// A stable sort of items by group, and by key within a group.
struct SortTask {
    std::span<const Index> keys;    // [items] >= 0
    std::span<const Index> groups;  // [items] >= 0; empty: there is one group
    bool descending = false;        // applies to keys; groups always ascend
};

/// [items] The items in the order of the task.
[[nodiscard]] std::vector<Index> sorted(const SortTask& task);

/// [nodes] The length of the longest row of each node, from the lengths of the rows.
[[nodiscard]] std::vector<Index> longest_of_nodes(std::vector<Index> lengths, Index node_size);

}  // namespace workbench
