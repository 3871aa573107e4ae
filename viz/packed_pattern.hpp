// What a page keeps of the pattern after a stage, packed: a level of the pyramid, nonzeros to follow, rows of tiles.
#pragma once

#include <string>
#include <vector>

#include "pipeline/matrix/staged_matrix.hpp"
#include "viz/pyramid.hpp"

namespace workbench {

/// For each bin row: the number of its bins, then of each the gap to the one before and what it holds, all as numbers of seven
/// bits a byte, least first. What a bin holds: its counts, a plane each; where all counts are 1, nothing with one plane, and
/// the plane with more (`one_each`).
struct PackedLevel {
    std::string bytes;
    bool one_each = false;
};
[[nodiscard]] PackedLevel packed(const PyramidLevel& level);

/// Some nonzeros, the same after every stage: of rows of the input that are drawn at random, one each.
struct PatternSample {
    std::vector<Index> original_rows;
    std::vector<Index> original_columns;
    std::vector<double> values;
    std::vector<Index> drawn_rows;  // where they are drawn now, with tiles as their tile stores them
    std::vector<Index> drawn_columns;
};
[[nodiscard]] PatternSample sample_of(const StagedMatrix& staged, Index most);

/// The rows of tiles in the order of storage, as bytes: the number of tiles; of each its row block, segment, number of rows and
/// the rows, each as the difference from the one before. Empty where the shares are no tiles.
[[nodiscard]] std::string packed_tiles(const StagedMatrix& staged);

/// Numbers of seven bits a byte.
void add_number(std::string& bytes, std::uint64_t number);
/// Small for small differences of either sign.
void add_difference(std::string& bytes, std::int64_t difference);

}  // namespace workbench
