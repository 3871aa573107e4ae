// Reader of METIS graph files.
// Source: Karypis, "METIS: a software package for partitioning unstructured graphs ... Manual", version 5.1 (2013),
// section 4.1.
#pragma once

#include <string_view>

#include "core/input/texts/line_reader.hpp"
#include "core/matrix/csr_matrix.hpp"

namespace workbench {

/// True if the first line that is not a comment consists of two to four numbers.
[[nodiscard]] bool is_metis_graph(std::string_view start);

/// Reads the adjacency matrix, which is symmetric without a diagonal; values are edge weights, or 1. Sizes and weights of
/// vertices are checked and ignored. Refuses self-loops, edges that are listed twice, at one end only or with two weights, and
/// numbers of edges that differ from the first line. Throws InputError with the line, and MachineError with the bytes needed
/// and available.
[[nodiscard]] CsrMatrix read_metis_graph(LineReader& lines);

}  // namespace workbench
