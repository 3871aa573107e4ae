// A hash table whose slots are the places of rows, so that rows of similar length are adjacent without a sort.
// Source: after Yan, Diao, Liu, An, Xu, "A Nonlinear Hash-based Optimization Method for SpMV on GPUs" (HBP), arXiv 2025: a
// nonlinear function of the row length that groups similar lengths, short rows first, in linear time. The formula is not
// published; this function is a design of this project.
#pragma once

#include <span>
#include <vector>

#include "core/matrix/length_hash.hpp"

namespace workbench {

/// h(length) = starts[length_class(length)], an estimate of the number of rows in lower classes. All rows of a class hash to
/// its first slot, and linear probing makes them adjacent. Classes above those of the sample hash to the last slot.
struct LengthHash {
    Index slots = 0;            // the number of rows
    std::vector<Index> starts;  // [classes up to the highest of the sample]
};

/// Fits the starts to a stratified sample of the rows (SampledRows), sample >= 1; exact if the sample is all rows. Otherwise a
/// start is half a standard error too early, because a class that overflows into the next one costs a warp little, but rows
/// that wrap around from the end of the table to the shortest rows cost it much.
[[nodiscard]] LengthHash fit_length_hash(std::span<const Index> lengths, Index sample);

struct HashedRows {
    std::vector<Index> old_of_new;  // [rows] the row in each slot
    Offset probes = 0;              // slots and links that were visited
};

/// Places each row in the first free slot from its hash on or, if there is none, in the last free slot. Occupied slots link to
/// later slots, with path halving, so that a search visits few slots even in a full table: O(n) in practice, O(n log n) at
/// most.
[[nodiscard]] HashedRows place_by_hash(std::span<const Index> lengths, const LengthHash& hash);

}  // namespace workbench
