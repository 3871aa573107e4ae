#include "stages/order.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include "core/forecast/forecast.hpp"
#include "core/matrix/guarded_loop.hpp"
#include "core/matrix/share_matrix.hpp"
#include "stages/parameters.hpp"

namespace workbench {

Permutation expand(const Permutation& node_order, Index node_size) {
    std::vector<Index> old_of_new(static_cast<std::size_t>(node_order.size()) * node_size);
    std::size_t row = 0;
    for (const Index node : node_order.old_of_new()) {
        for (Index unknown = 0; unknown < node_size; ++unknown) old_of_new[row++] = node * node_size + unknown;
    }
    return Permutation::from_old_of_new(std::move(old_of_new));
}

OrderChange order_of_nodes(std::vector<Index> old_of_new, Index node_size, Acts acts) {
    return {acts, expand(Permutation::from_old_of_new(std::move(old_of_new)), node_size)};
}

ParameterDeclaration storage_parameter() {
    return declare("share", ParameterType::share, not_required, {.words = listed_kinds_without_places()},
                   "order the storage of the rows in this share by its nonzeros alone; the matrix does not change");
}

StageContract contract_of_symmetric_order(const Parameters& parameters) {
    if (parameters.has("share")) return contract_of_storage(parameters, true);
    return {.needs = {.square = true}, .acts = Acts::symmetric};
}

StageContract contract_of_storage(const Parameters& parameters, bool square) {
    return {.needs = {.square = square, .shares = {parameters.share("share")}}};
}

StageResult storage_of_order(StageResult result, const ShareMatrix& share, const ShareView& view, const ShareId& id) {
    const Permutation& order = result.change.order.value().order;
    std::vector<Index> stored = all_of(view.row_count());
    const auto place = [&](Index row) { return order.new_of_old(share.rows.empty() ? view.row(row) : row); };
    std::sort(stored.begin(), stored.end(), [&](Index a, Index b) { return place(a) < place(b); });
    result.change.storage = {{id, Permutation::from_old_of_new(std::move(stored))}};
    result.change.order.reset();
    return result;
}

StageContract contract_of_order(const Parameters& parameters) {
    const Acts acts = axes_of(parameters);
    return {.needs = {.square = acts == Acts::symmetric}, .acts = acts};
}

void foresee_gathered_rows(PatternForecast& pattern, const Parameters&, const StageContext&) {
    constexpr double sectors = 0.4;
    pattern.reorder(sectors);
}

void foresee_scattered_rows(PatternForecast& pattern, const Parameters&, const StageContext&) {
    constexpr double sectors = 2.5;
    pattern.reorder(sectors);
}

std::vector<Index> all_of(Index size) {
    std::vector<Index> list(size);
    std::iota(list.begin(), list.end(), 0);
    return list;
}

void stable_sort_by(std::vector<Index>& list, std::span<const Index> keys) {
    if (list.empty()) return;
    // Each thread counts the keys of a piece of the list, from which the places of its items follow.
    constexpr std::int64_t items_per_thread = 1 << 15;  // fewer are not worth a thread
    const std::int64_t key_count = std::int64_t{*std::max_element(keys.begin(), keys.end())} + 1;
    const auto items = static_cast<std::int64_t>(list.size());
    const std::int64_t pieces = std::clamp<std::int64_t>(items / std::max(key_count, items_per_thread), 1, host_threads());
    using Pieces = HostRange<std::int64_t>;
    const auto for_each_of_piece = [&](std::int64_t piece, const auto& visit) {
        const std::int64_t end = items * (piece + 1) / pieces;
        for (std::int64_t i = items * piece / pieces; i < end; ++i) visit(list[i]);
    };
    std::vector<std::vector<Index>> next(pieces);  // [pieces][keys]
    guarded_for("count_keys", Pieces(0, pieces), [&](std::int64_t piece) {
        next[piece].assign(key_count, 0);
        for_each_of_piece(piece, [&](Index item) { ++next[piece][keys[item]]; });
    });
    Index before = 0;
    for (std::int64_t key = 0; key < key_count; ++key) {
        for (std::vector<Index>& of_piece : next) before += std::exchange(of_piece[key], before);
    }
    std::vector<Index> sorted(list.size());
    Kokkos::parallel_for("place_items", Pieces(0, pieces), [&](std::int64_t piece) {
        for_each_of_piece(piece, [&](Index item) { sorted[next[piece][keys[item]]++] = item; });
    });
    list = std::move(sorted);
}

std::vector<Index> sorted(const SortTask& task) {
    std::vector<Index> order = all_of(static_cast<Index>(task.keys.size()));
    if (order.empty()) return order;
    if (task.descending) {
        // An ascending sort of the complements, which keeps the order of ties.
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

std::vector<Index> longest_of_nodes(std::vector<Index> lengths, Index node_size) {
    if (node_size == 1) return lengths;
    std::vector<Index> longest(lengths.size() / node_size);
    Kokkos::parallel_for("longest_of_nodes", HostRange<std::size_t>(0, longest.size()), [&](std::size_t node) {
        const auto first = lengths.begin() + static_cast<std::ptrdiff_t>(node * node_size);
        longest[node] = *std::max_element(first, first + node_size);
    });
    return longest;
}

}  // namespace workbench
