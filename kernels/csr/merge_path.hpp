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

/// The same search by many at a time, from [0, rows] on: the answer is in [begin, end], and each of `probes` looks at one row
/// between.
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

/// A block of the kernel: so many threads with so many steps each. A multiprocessor is to hold so many blocks, which limits
/// registers.
template <int thread_count, int steps_of_thread, int blocks>
struct MergeShape {
    static constexpr int threads = thread_count;
    static constexpr int steps_per_thread = steps_of_thread;
    static constexpr int steps = threads * steps_per_thread;
    static constexpr int resident_blocks = blocks;

    /// Which nonzero of the block's a thread loads as its k-th.
    [[nodiscard]] static constexpr int place(int k, int thread) { return k * threads + thread; }
};

/// The path in shares, a block each; the last one may be shorter.
template <typename Shape>
struct MergeShares {
    Index rows = 0;
    Offset nonzeros = 0;

    [[nodiscard]] constexpr Offset count() const { return (rows + nonzeros + Shape::steps - 1) / Shape::steps; }
    /// The steps before a share; before share `count()` all.
    [[nodiscard]] constexpr Offset begin(Offset share) const {
        const Offset steps = share * Shape::steps;
        return steps < rows + nonzeros ? steps : rows + nonzeros;
    }
    /// The row ends before a share: its first row. row_ends: [rows].
    [[nodiscard]] constexpr Index first_row(const Offset* row_ends, Offset share) const {
        return merge_path_search(row_ends, rows, begin(share));
    }
};

/// The nonzeros of a share from `first` on, and the rows that end in it from `first_row` on.
struct MergeShare {
    Offset first = 0;
    int nonzeros = 0;
    Index first_row = 0;
    int rows = 0;
};

// An odd number of steps: threads of a warp that go along their parts meet in different banks of shared memory.
using Merge = MergeShape<128, 11, 8>;

}  // namespace workbench
