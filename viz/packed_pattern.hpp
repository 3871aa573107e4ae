// The packed data of a stage in a page: a level of the pyramid, sampled nonzeros, rows of tiles.
#pragma once

#include <string>
#include <vector>

#include "core/matrix/staged_matrix.hpp"
#include "viz/pyramid.hpp"

namespace workbench {

/// For each bin row: the number of its bins, then for each bin the gap to the one before and its contents, as numbers of seven
/// bits a byte, least significant first. The contents are the count of each plane. If every bin contains one nonzero
/// (`one_each`), they are its plane, or nothing if there is one plane.
struct PackedLevel {
    std::string bytes;
    bool one_each = false;
};
[[nodiscard]] PackedLevel packed(const PyramidLevel& level);

/// A sample of nonzeros that is the same after every stage: one from each of some random rows of the input.
struct PatternSample {
    std::vector<Index> original_rows;
    std::vector<Index> original_columns;
    std::vector<double> values;
    std::vector<Index> drawn_rows;  // their places in the picture (Placement)
    std::vector<Index> drawn_columns;
};
[[nodiscard]] PatternSample sample_of(const StagedMatrix& staged, Index most);

/// The rows of tiles in storage order, as bytes: the number of tiles, then for each its row block, segment, number of rows, and
/// the rows, each as the difference from the one before. Empty if the shares are no tiles.
[[nodiscard]] std::string packed_tiles(const StagedMatrix& staged);

/// Appends a number of seven bits a byte.
void add_number(std::string& bytes, std::uint64_t number);
/// Appends a difference, in few bytes if it is small in magnitude.
void add_difference(std::string& bytes, std::int64_t difference);

}  // namespace workbench
