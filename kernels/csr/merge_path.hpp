// Where a share of the merge path begins: Merrill and Garland, "Merge-based Parallel Sparse Matrix-Vector Multiplication" (SC
// 2016). The path merges the ends of the rows with the numbers of the nonzeros: it takes a nonzero while its row has one left,
// otherwise the end of the row. Equal shares of its rows + nonzeros steps are equal work, however the rows are.
#pragma once

#include "pipeline/matrix/types.hpp"

namespace workbench {

/// Is the end of this row among the first `steps` of the path? True up to some row, and false from there on. end: the number of
/// the row's last nonzero + 1, in the units of `steps`.
template <typename Number>
[[nodiscard]] constexpr bool ends_before(Number end, Index row, Number steps) {
    return end + row < steps;
}

/// The number of row ends among the first `steps` of the path; the other steps are nonzeros. row_ends: [rows].
template <typename Number>
[[nodiscard]] constexpr Index merge_path_search(const Number* row_ends, Index rows, Number steps) {
    Index begin = 0;
    Index end = steps < rows ? static_cast<Index>(steps) : rows;
    while (begin < end) {
        const Index middle = begin + (end - begin) / 2;
        if (ends_before(row_ends[middle], middle, steps)) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin;
}

/// The same search by many at a time: the answer is in [begin, end], and each of `probes` looks at one row between.
struct SearchRange {
    Index begin = 0;
    Index end = 0;

    [[nodiscard]] constexpr bool done() const { return begin >= end; }
    [[nodiscard]] constexpr Index probe(int number, int probes) const {
        return begin + static_cast<Index>(Offset{end - begin} * (number + 1) / (probes + 1));
    }
    /// After the first `before` of the probes have found that their row ends before, and the others that it does not.
    [[nodiscard]] constexpr SearchRange narrowed(int before, int probes) const {
        return {before == 0 ? begin : probe(before - 1, probes) + 1, before == probes ? end : probe(before, probes)};
    }
};

/// What the range is at first. At least steps - nonzeros of the steps are row ends.
[[nodiscard]] constexpr SearchRange merge_path_range(Index rows, Offset nonzeros, Offset steps) {
    return {static_cast<Index>(steps > nonzeros ? steps - nonzeros : 0), steps < rows ? static_cast<Index>(steps) : rows};
}

/// A block of a merge kernel: so many threads with so many steps each.
template <int thread_count, int steps_of_thread>
struct MergeShape {
    static constexpr int threads = thread_count;
    static constexpr int steps_per_thread = steps_of_thread;
    static constexpr int steps = threads * steps_per_thread;

    /// Which nonzero of the block's a thread loads as its k-th.
    [[nodiscard]] static constexpr int place(int k, int thread) { return k * threads + thread; }
};

using MergeA = MergeShape<256, 7>;
using MergeB = MergeShape<128, 7>;
using MergeC = MergeShape<128, 11>;

}  // namespace workbench
