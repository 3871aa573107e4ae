// The pattern of a matrix at every level of detail, from a single bin down to single entries where they are not too many: what
// a page needs to zoom in, in little room however large the matrix is.
#pragma once

#include <string>
#include <vector>

#include "pipeline/matrix/staged_matrix.hpp"

namespace workbench {

/// Shares that are told apart; where there are more, the last plane holds all others.
inline constexpr int most_planes = 6;

/// Row i lies in bin row i >> row_bits, column j in bin column j >> column_bits. Only bins that hold something are listed, row
/// by row. Where the shares are tiles, a row lies where its tile stores it (Placement).
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

struct Pyramid {
    std::vector<std::string> plane_names;  // one to most_planes
    std::vector<PyramidLevel> levels;      // the deepest first; the last is a single bin

    friend bool operator==(const Pyramid&, const Pyramid&) = default;
};

/// Of the deepest level; the page makes it coarser where all its stages together take too much.
inline constexpr Offset most_bins_of_level = 600'000;

/// The levels: single entries, then bins of twice the side of those before along the axis that has more of them, and along
/// the other one where it has more than half as many. The deepest is the finest that has at most `most_bins` bins. Runs in
/// parallel; the result does not depend on the number of threads. Throws std::invalid_argument where most_bins is not positive.
[[nodiscard]] Pyramid build_pyramid(const StagedMatrix& staged, Offset most_bins = most_bins_of_level);

/// The next level; of a single bin, the same.
[[nodiscard]] PyramidLevel coarser(const PyramidLevel& level);

/// The nonzeros in bins of any size.
[[nodiscard]] PyramidLevel count_bins(const StagedMatrix& staged, int row_bits, int column_bits);

}  // namespace workbench
