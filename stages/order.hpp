// Shared by the stages that reorder.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "pipeline/matrix/permutation.hpp"
#include "pipeline/matrix/preparer.hpp"
#include "pipeline/matrix/staged_matrix.hpp"

namespace workbench {

/// The order of the rows for an order of the nodes: a node's `node_size` rows stay together and in order.
[[nodiscard]] Permutation expand(const Permutation& node_order, Index node_size);

/// 0, 1, .. size - 1: a list of things to be sorted.
[[nodiscard]] std::vector<Index> all_of(Index size);

/// Sorts a list of things by keys[thing], ascending and stable, by counting: linear in the list and the largest key.
/// Keys are >= 0.
void stable_sort_by(std::vector<Index>& list, std::span<const Index> keys);

/// The things in the order that the task asks for, by the preparer where it takes the work, or here. [things]
[[nodiscard]] std::vector<Index> sorted(const SortTask& task, Preparer* preparer);

/// "symmetric", "rows" or "columns".
[[nodiscard]] Acts acts_named(std::string_view word);

}  // namespace workbench
