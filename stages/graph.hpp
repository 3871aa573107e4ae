// The graph of a square matrix.
#pragma once

#include <span>
#include <vector>

#include "core/matrix/csr_matrix.hpp"

namespace workbench {

/// An undirected graph without self-loops and duplicate edges. Every edge is stored at both of its ends.
struct Graph {
    HostArray<Offset> offsets{0};  // [vertices + 1] into neighbours
    HostArray<Index> neighbours;   // [edge ends] ascending for each vertex

    [[nodiscard]] Index vertex_count() const { return static_cast<Index>(offsets.size()) - 1; }
    [[nodiscard]] Index degree(Index vertex) const { return static_cast<Index>(offsets[vertex + 1] - offsets[vertex]); }
    [[nodiscard]] std::span<const Index> neighbours_of(Index vertex) const {
        return {neighbours.data() + offsets[vertex], static_cast<std::size_t>(offsets[vertex + 1] - offsets[vertex])};
    }
};

/// The graph of A + A^T: a vertex for each node of `node_size` consecutive rows, and an edge between two nodes if A has an
/// entry (which may be zero) in the rows of one and the columns of the other. The matrix is square, and node_size divides its
/// size. In parallel; linear in the nonzeros, except for searches and sorts within the adjacency list of a vertex.
[[nodiscard]] Graph adjacency_graph(const CsrMatrix& matrix, Index node_size);

}  // namespace workbench
