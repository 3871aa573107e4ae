// Dense columns together: the entries of x that are read most often.
#include <Kokkos_Core.hpp>

#include <algorithm>

#include "stages/order.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

bool descends(const Parameters& parameters) { return parameters.text("order") == "descending"; }

StageContract contract(const Parameters& parameters) {
    return {.acts = Acts::columns, .gives_columns_by_density = descends(parameters)};
}

/// The nonzeros in the columns of each node, which is below 2^31 entries in a column times node_size. [columns / node_size]
std::vector<Offset> node_lengths(const CsrMatrix& matrix, Index node_size) {
    std::vector<Offset> lengths(matrix.columns / node_size, 0);
    using Range = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<Offset>>;
    Kokkos::parallel_for("count_columns", Range(0, matrix.nonzeros()),
                         [&](Offset entry) { Kokkos::atomic_increment(&lengths[matrix.column_indices[entry] / node_size]); });
    return lengths;
}

StageResult run(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    const std::vector<Offset> lengths = node_lengths(staged.matrix, staged.node_size);
    std::vector<Index> order = all_of(static_cast<Index>(lengths.size()));
    const bool descending = descends(parameters);
    std::stable_sort(order.begin(), order.end(),
                     [&](Index a, Index b) { return descending ? lengths[a] > lengths[b] : lengths[a] < lengths[b]; });
    const Permutation nodes = Permutation::from_old_of_new(std::move(order));
    return {.change = {.order = OrderChange{Acts::columns, expand(nodes, staged.node_size)}}};
}

}  // namespace

StageEntry column_sort_stage() {
    return {
        .name = "column_sort",
        .summary = "Sort columns by their number of nonzeros, so that the most used entries of x are neighbours (stable)",
        .source = "Nagasaka, 'Exploiting GPU Caches in Sparse Matrix Vector Multiplication': non-uniformly segmented formats",
        .parameters = {{.name = "order",
                        .type = ParameterType::choice,
                        .default_value = "descending",
                        .words = {"descending", "ascending"},
                        .help = "densest columns first, or sparsest first; equal columns keep their order; a mesh node "
                                "counts as a whole"}},
        .contract = contract,
        .run = run};
}

}  // namespace workbench
