// Graphs in the file format of METIS.
// Source: Karypis, "METIS: a software package for partitioning unstructured graphs ... Manual", version 5.1 (2013),
// section 4.1.
#pragma once

#include <string_view>

#include "pipeline/input/line_reader.hpp"
#include "pipeline/matrix/csr_matrix.hpp"

namespace workbench {

/// Comments aside, does the text begin with a line of two to four numbers?
[[nodiscard]] bool is_metis_graph(std::string_view start);

/// Reads the adjacency matrix, symmetric and without a diagonal: the values are the weights of the edges, 1 where there are
/// none. Sizes and weights of vertices are checked and passed over. What the format forbids is refused with its line: edges of
/// a vertex with itself, edges given twice or at one end only, with two weights, or more or fewer of them than the first line
/// says. Throws InputError, and MachineError with the bytes wanted and had.
[[nodiscard]] CsrMatrix read_metis_graph(LineReader& lines);

}  // namespace workbench
