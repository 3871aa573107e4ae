// The pattern of a matrix at every level of detail, from a thumbnail down to single entries where they are not too many: what a
// page needs to zoom in, in little room however large the matrix is.
#pragma once

#include <string>
#include <vector>

#include "pipeline/matrix/staged_matrix.hpp"

namespace workbench {

/// Square bins of 2^shift rows and columns; those that hold something, row by row. Row i lies in bin row i >> shift, column j
/// in bin column j >> shift, so that four bins of a level are one of the next.
struct PyramidLevel {
    int shift = 0;  // 0: bins are single entries
    Index row_bins = 0;
    Index column_bins = 0;
    std::vector<Offset> row_offsets{0};  // [row_bins + 1] into the arrays below
    std::vector<Index> columns;          // [bins] bin columns, ascending within a bin row
    std::vector<Offset> counts;          // [bins] nonzeros
    std::vector<Offset> others;          // [bins] those among them that are in plane 1; empty where there is one plane

    [[nodiscard]] Offset bins() const { return static_cast<Offset>(columns.size()); }

    friend bool operator==(const PyramidLevel&, const PyramidLevel&) = default;
};

/// Rows and planes as in a PatternRaster (raster.hpp).
struct Pyramid {
    Index rows = 0;
    Index columns = 0;
    Offset nonzeros = 0;
    Index tiles = 0;                       // 0: the shares are no tiles
    std::vector<std::string> plane_names;  // one or two
    std::vector<PyramidLevel> levels;      // the deepest first; the last has at most `coarsest` bins along the longer axis

    [[nodiscard]] bool shows_entries() const { return levels.front().shift == 0; }

    friend bool operator==(const Pyramid&, const Pyramid&) = default;
};

inline constexpr Offset most_entries_shown = 200'000;

/// The deepest level is the one of finest bins that has at most `most_bins` of them; or, where none has, the one of `coarsest`
/// bins along the longer axis. Runs in parallel; the result does not depend on the number of threads. Throws
/// std::invalid_argument where most_bins or coarsest is not positive.
[[nodiscard]] Pyramid build_pyramid(const StagedMatrix& staged, Offset most_bins = most_entries_shown, Index coarsest = 256);

/// The level of bins twice as large.
[[nodiscard]] PyramidLevel coarser(const PyramidLevel& level);

}  // namespace workbench
