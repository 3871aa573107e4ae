// Locality of a matrix in its current order: how far its columns lie apart, and how many lines of x its rows read.
#pragma once

#include <array>
#include <optional>

#include "pipeline/matrix/csr_matrix.hpp"

namespace workbench {

/// Places from the first to the last nonzero of a row or column, both included: last - first + 1. Over those that have a
/// nonzero; 0 where none has.
struct Span {
    double mean = 0;
    Index maximum = 0;
};

/// 32: a sector of a GPU's cache; 64: a line of a CPU's; 128: a line of a GPU's.
inline constexpr std::array<Index, 3> cache_line_bytes{32, 64, 128};

/// What the row blocks read of x: blocks of 32 consecutive rows, as a warp with a thread a row has them; x in f64, beginning at
/// a line.
struct CacheLines {
    Index line_bytes = 0;
    Offset lines = 0;              // sum over the row blocks of the number of distinct lines that their columns lie in
    double per_row_block = 0;      // lines / row blocks
    double bytes_per_nonzero = 0;  // line_bytes * lines / nonzeros: 8 where no line is read twice or in part
};

/// Maximal runs of consecutive columns in a row.
struct NeighbourRuns {
    Offset count = 0;        // nonzeros a_ij without a stored a_i,j-1
    double mean_length = 0;  // nonzeros / count
};

/// Shares of the nonzeros off the diagonal, 0 .. 1; both 1 where there are none.
struct Symmetry {
    double pattern = 1;  // a_ij whose mirror image a_ji is stored
    double values = 1;   // a_ij whose mirror image is stored and equal; a NaN equals nothing
};

struct Locality {
    Span row_span;
    Span column_span;
    std::array<CacheLines, cache_line_bytes.size()> x_lines;
    NeighbourRuns neighbour_runs;
    std::optional<Symmetry> symmetry;  // none where the matrix is not square
};

[[nodiscard]] Locality measure_locality(const CsrMatrix& matrix);

}  // namespace workbench
