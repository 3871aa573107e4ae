#include "stages/order.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "pipeline/matrix/guarded_loop.hpp"
#include "pipeline/matrix/host_threads.hpp"

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
    // Each thread has a piece of the list, and counts its keys: so it knows the places of its things.
    constexpr std::int64_t worth_a_thread = 1 << 15;
    const std::int64_t key_count = std::int64_t{*std::max_element(keys.begin(), keys.end())} + 1;
    const auto things = static_cast<std::int64_t>(list.size());
    const std::int64_t pieces = std::clamp<std::int64_t>(things / std::max(key_count, worth_a_thread), 1, host_threads());
    using Pieces = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<std::int64_t>>;
    const auto for_each_of_piece = [&](std::int64_t piece, const auto& visit) {
        const std::int64_t end = things * (piece + 1) / pieces;
        for (std::int64_t i = things * piece / pieces; i < end; ++i) visit(list[i]);
    };
    std::vector<std::vector<Index>> next(pieces);  // [keys] of each piece
    guarded_for("count_keys", Pieces(0, pieces), [&](std::int64_t piece) {
        next[piece].assign(key_count, 0);
        for_each_of_piece(piece, [&](Index thing) { ++next[piece][keys[thing]]; });
    });
    Index before = 0;
    for (std::int64_t key = 0; key < key_count; ++key) {
        for (std::vector<Index>& of_piece : next) before += std::exchange(of_piece[key], before);
    }
    std::vector<Index> sorted(list.size());
    Kokkos::parallel_for("place_things", Pieces(0, pieces), [&](std::int64_t piece) {
        for_each_of_piece(piece, [&](Index thing) { sorted[next[piece][keys[thing]]++] = thing; });
    });
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
