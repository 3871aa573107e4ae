// Sorts columns by density, so that the most frequently read entries of x are adjacent.
#include <algorithm>

#include "core/matrix/host_threads.hpp"
#include "stages/order.hpp"
#include "stages/parameters.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

StageContract column_sort_contract(const Parameters& parameters) {
    return {.acts = Acts::columns, .gives_columns_by_density = descends(parameters)};
}

/// [columns / node_size] The nonzeros in the columns of each node, which may exceed 2^31.
std::vector<Offset> node_column_lengths(const CsrMatrix& matrix, Index node_size) {
    std::vector<Offset> lengths(matrix.columns / node_size, 0);
    Kokkos::parallel_for("count_columns", HostRange<Offset>(0, matrix.nonzeros()), [&](Offset entry) {
        Kokkos::atomic_add(&lengths[matrix.column_indices[entry] / node_size], Offset{1});
    });
    return lengths;
}

StageResult run_column_sort(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    const std::vector<Offset> lengths = node_column_lengths(staged.matrix, staged.node_size);
    std::vector<Index> order = all_of(static_cast<Index>(lengths.size()));
    const bool descending = descends(parameters);
    std::stable_sort(order.begin(), order.end(),
                     [&](Index a, Index b) { return descending ? lengths[a] > lengths[b] : lengths[a] < lengths[b]; });
    return {.change = {.order = order_of_nodes(std::move(order), staged.node_size, Acts::columns)}};
}

}  // namespace

StageEntry column_sort_stage() {
    return {
        .name = "column_sort",
        .summary = "Sort columns by their number of nonzeros, so that the most used entries of x are adjacent (stable)",
        .source =
            "Nagasaka, 'Exploiting GPU Caches in Sparse Matrix Vector Multiplication', slides, Tokyo Institute of Technology: "
            "non-uniformly segmented formats",
        .parameters = {direction_parameter("densest columns, or mesh nodes,")},
        .contract = column_sort_contract,
        .orders_all = true,
        .run = run_column_sort,
        .nanoseconds_per_nonzero = 17};
}

}  // namespace workbench
