// The pattern of a matrix at several levels of detail, which a page needs for zooming: from a single bin to single entries, or
// to the finest bins within a limit.
#pragma once

#include <string>
#include <vector>

#include "core/matrix/staged_matrix.hpp"

namespace workbench {

/// The most planes. If there are more shares, the last plane counts all others.
inline constexpr int most_planes = 6;

/// Row i is in bin row i >> row_bits, column j in bin column j >> column_bits. Only nonempty bins are stored, row by row. If
/// the shares are tiles, rows are where their tile stores them (Placement).
struct PyramidLevel {
    Index rows = 0;
    Index columns = 0;
    int row_bits = 0;
    int column_bits = 0;
    int planes = 1;
    std::vector<Offset> row_offsets{0};  // [bin rows + 1] into bin_columns
    std::vector<Index> bin_columns;      // [bins] ascending within a bin row
    std::vector<Offset> counts;          // [bins][planes] nonzeros

    [[nodiscard]] Index row_bins() const { return static_cast<Index>(row_offsets.size()) - 1; }
    [[nodiscard]] Offset bins() const { return static_cast<Offset>(bin_columns.size()); }
    [[nodiscard]] bool shows_entries() const { return row_bits == 0 && column_bits == 0; }

    friend bool operator==(const PyramidLevel&, const PyramidLevel&) = default;
};

/// The finest level; coarser() makes the others, down to a single bin.
struct Pyramid {
    std::vector<std::string> plane_names;  // one to most_planes
    PyramidLevel finest;

    friend bool operator==(const Pyramid&, const Pyramid&) = default;
};

/// The limit for the deepest level. The page makes it coarser if all its stages together are too large.
inline constexpr Offset most_bins_of_level = 600'000;

/// Builds the finest level that has at most `most_bins` bins. Runs in parallel; the result does not depend on the number of
/// threads. Throws std::invalid_argument if most_bins is not positive.
[[nodiscard]] Pyramid build_pyramid(const StagedMatrix& staged, Offset most_bins = most_bins_of_level);

/// The next level, which doubles the sides of bins along the axis with more bins, and along the other one if it has more than
/// half as many; for a single bin, the same level.
[[nodiscard]] PyramidLevel coarser(const PyramidLevel& level);

/// Counts the nonzeros in bins of any size.
[[nodiscard]] PyramidLevel count_bins(const StagedMatrix& staged, int row_bits, int column_bits);

}  // namespace workbench
