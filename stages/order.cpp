#include "stages/order.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

namespace workbench {

Permutation expand(const Permutation& node_order, Index node_size) {
    std::vector<Index> old_of_new(static_cast<std::size_t>(node_order.size()) * node_size);
    std::size_t row = 0;
    for (const Index node : node_order.old_of_new()) {
        for (Index unknown = 0; unknown < node_size; ++unknown) old_of_new[row++] = node * node_size + unknown;
    }
    return Permutation::from_old_of_new(std::move(old_of_new));
}

std::vector<Index> all_of(Index size) {
    std::vector<Index> list(size);
    std::iota(list.begin(), list.end(), 0);
    return list;
}

void stable_sort_by(std::vector<Index>& list, std::span<const Index> keys) {
    if (list.empty()) return;
    const Index largest = *std::max_element(keys.begin(), keys.end());
    std::vector<Index> next(static_cast<std::size_t>(largest) + 2, 0);
    for (const Index thing : list) ++next[keys[thing] + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    std::vector<Index> sorted(list.size());
    for (const Index thing : list) sorted[next[keys[thing]]++] = thing;
    list = std::move(sorted);
}

std::vector<Index> sorted(const SortTask& task, Preparer* preparer) {
    if (preparer != nullptr) {
        if (std::optional<std::vector<Index>> order = preparer->sort(task)) return std::move(*order);
    }
    std::vector<Index> order = all_of(static_cast<Index>(task.keys.size()));
    if (order.empty()) return order;
    if (task.descending) {
        // Counted down from the largest: the sort ascends and is stable.
        const Index largest = *std::max_element(task.keys.begin(), task.keys.end());
        std::vector<Index> keys(task.keys.size());
        std::transform(task.keys.begin(), task.keys.end(), keys.begin(), [&](Index key) { return largest - key; });
        stable_sort_by(order, keys);
    } else {
        stable_sort_by(order, task.keys);
    }
    if (!task.groups.empty()) stable_sort_by(order, task.groups);
    return order;
}

Acts acts_named(std::string_view word) {
    for (const Acts acts : {Acts::symmetric, Acts::rows, Acts::columns}) {
        if (name_of(acts) == word) return acts;
    }
    throw std::logic_error("no order acts on '" + std::string(word) + "'");
}

}  // namespace workbench
