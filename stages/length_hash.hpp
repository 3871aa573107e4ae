// A hash table whose slots are the places of rows: rows of like length fall together without a comparison or a sort.
// Source: after Yan, Diao, Liu, An, Xu, "A Nonlinear Hash-based Optimization Method for SpMV on GPUs" (HBP). Theirs: a
// nonlinear function of a row's length that gathers rows of like length, short rows first, in linear time. Its abstract and
// captions do not give the formula; what follows below them is a design of this project.
#pragma once

#include <span>
#include <vector>

#include "pipeline/matrix/length_hash.hpp"

namespace workbench {

/// h(length) = starts[length_class(length)]: about how many of the rows are in lower classes. The rows of a class all hash to
/// its first slot, and probing lays them side by side from there. Classes above those of the sample hash to the last slot.
struct LengthHash {
    Index slots = 0;            // as many as rows
    std::vector<Index> starts;  // [classes up to the highest in the sample]
};

/// Fits the starts to a sample: one row, at random but always the same, of each of `sample` >= 1 equal stretches of the rows;
/// all rows where there are no more than that, which makes the fit exact. Otherwise a start is set half a standard error of the
/// sample too early: a class that finds no room moves into the next one, which costs a warp little, and not back from the end
/// among the shortest rows, which costs it much.
[[nodiscard]] LengthHash fit_length_hash(std::span<const Index> lengths, Index sample);

/// Where probing laid the rows.
struct HashedRows {
    std::vector<Index> old_of_new;  // [rows] the row in each slot
    Offset probes = 0;              // slots and links looked at
};

/// Puts row after row into the first free slot from its own on; where there is none up to the end, into the last free slot.
/// Slots that are taken link to where the search goes on, and links are halved on the way (path halving), so that a search
/// looks at few slots however full the table is: n rows cost O(n) in practice, and never more than O(n log n).
[[nodiscard]] HashedRows place_by_hash(std::span<const Index> lengths, const LengthHash& hash);

}  // namespace workbench
