// Small graphs as matrices, for tests of orders.
#pragma once

#include <utility>
#include <vector>

#include "core/matrix/battery.hpp"
#include "core/matrix/random.hpp"
#include "stages/stages.hpp"
#include "stages/steps.hpp"

namespace workbench {

/// The graph with these edges, each stored in one direction.
inline StagedMatrix graph_of(Index vertices, const std::vector<std::pair<Index, Index>>& edges, Index node_size = 1) {
    std::vector<Entry> entries;
    for (const auto& [a, b] : edges) entries.push_back({a * node_size, b * node_size, 1});
    return stage_input(csr_from_entries(vertices * node_size, vertices * node_size, entries), node_size);
}

/// The five-point stencil on n x n points, with a diagonal.
inline CsrMatrix square_grid(Index n) {
    std::vector<Entry> entries;
    for (Index i = 0; i < n * n; ++i) {
        entries.push_back({i, i, 4});
        if (i % n > 0) entries.insert(entries.end(), {{i, i - 1, -1}, {i - 1, i, -1}});
        if (i >= n) entries.insert(entries.end(), {{i, i - n, -1}, {i - n, i, -1}});
    }
    return csr_from_entries(n * n, n * n, entries);
}

inline StagedMatrix scrambled(const CsrMatrix& matrix, std::int64_t seed = 1) {
    return stage_input(run(random_order_stage(), {{"seed", seed}}, stage_input(matrix)).after.matrix);
}

/// The fraction of the nonzeros in diagonal blocks of this size.
inline double share_near(const CsrMatrix& matrix, Index block) {
    Offset near = 0;
    for (Index row = 0; row < matrix.rows; ++row) {
        for (const Index column : matrix.row_columns(row)) near += row / block == column / block ? 1 : 0;
    }
    return static_cast<double>(near) / static_cast<double>(matrix.nonzeros());
}

/// A random tree with half as many additional edges.
inline StagedMatrix random_graph(Index vertices, std::uint64_t seed) {
    std::vector<std::pair<Index, Index>> edges;
    for (Index i = 1; i < vertices; ++i) edges.emplace_back(i, static_cast<Index>(mixed(seed + i) % i));
    for (Index i = 2; i < vertices; i += 2) edges.emplace_back(i, static_cast<Index>(mixed(seed + vertices + i) % i));
    return graph_of(vertices, edges);
}

/// Cliques that are connected in a ring, numbered at random.
inline StagedMatrix ring_of_cliques(Index cliques, Index size, std::int64_t seed) {
    std::vector<Entry> entries;
    for (Index clique = 0; clique < cliques; ++clique) {
        for (Index i = 0; i < size; ++i) {
            for (Index k = 0; k < size; ++k) entries.push_back({clique * size + i, clique * size + k, 1});
        }
        entries.push_back({clique * size, (clique + 1) % cliques * size + 1, 1});
    }
    return scrambled(csr_from_entries(cliques * size, cliques * size, entries), seed);
}

}  // namespace workbench
