// Locality of a matrix in its current order: the spans of its rows and columns, and the cache lines of x that its rows read.
#pragma once

#include <array>
#include <optional>

#include "core/matrix/csr_matrix.hpp"

namespace workbench {

/// The span last - first + 1 of the nonzeros of a row or column, over the rows or columns that have nonzeros; 0 if none has.
struct Span {
    double mean = 0;
    Index maximum = 0;
};

/// A sector of a GPU's cache, a cache line of a CPU, and a cache line of a GPU.
inline constexpr std::array<Index, 3> cache_line_bytes{32, 64, 128};

/// The cache lines of x that blocks of 32 consecutive rows read, where a block is a warp with one thread per row. x is in f64
/// and aligned to a line.
struct CacheLines {
    Index line_bytes = 0;
    Offset lines = 0;              // distinct lines of a row block, summed over the row blocks
    double per_row_block = 0;      // lines / row blocks
    double bytes_per_nonzero = 0;  // line_bytes * lines / nonzeros: 8 if each line is read once and used fully
};

/// Maximal runs of consecutive columns in the rows.
struct NeighbourRuns {
    Offset count = 0;        // nonzeros a_ij without a stored a_i,j-1
    double mean_length = 0;  // nonzeros / count
};

/// Fractions of the off-diagonal nonzeros; both are 1 if there are none.
struct Symmetry {
    double pattern = 1;  // a_ji is also stored
    double values = 1;   // a_ji is stored and equal to a_ij; a NaN equals nothing
};

struct Locality {
    Span row_span;
    Span column_span;
    std::array<CacheLines, cache_line_bytes.size()> x_lines;
    NeighbourRuns neighbour_runs;
    std::optional<Symmetry> symmetry;  // of a square matrix
};

[[nodiscard]] Locality measure_locality(const CsrMatrix& matrix);

}  // namespace workbench
