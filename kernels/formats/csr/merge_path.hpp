// Shares of the merge path: Merrill and Garland, "Merge-based Parallel Sparse Matrix-Vector Multiplication" (SC 2016). The path
// merges the ends of the rows with the numbers of the nonzeros: each step takes a nonzero while its row has one left, otherwise
// the end of the row. Equal shares of its rows + nonzeros steps are equal work for any row lengths.
#pragma once

#include "kernels/common/schedule/side_by_side.hpp"

namespace workbench {

/// True if the end of this row is among the first `steps` of the path, which holds for all rows before one for which it holds.
/// end: the number of the row's last nonzero + 1.
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

/// The range of a search that starts with [0, rows] and tests `probes` rows of the range at a time.
struct SearchRange {
    Index begin = 0;
    Index end = 0;

    [[nodiscard]] constexpr bool done() const { return begin >= end; }
    [[nodiscard]] constexpr Index probe(int number, int probes) const {
        return begin + static_cast<Index>(Offset{end - begin} * (number + 1) / (probes + 1));
    }
    /// The range after the rows of the first `before` probes were found to end before, and the others not.
    [[nodiscard]] constexpr SearchRange narrowed(int before, int probes) const {
        return {before == 0 ? begin : probe(before - 1, probes) + 1, before == probes ? end : probe(before, probes)};
    }
};

/// A thread block of the kernel, whose loads are steps. A multiprocessor holds at least `blocks`, which bounds the registers.
template <int threads, int steps_of_thread, int blocks>
struct MergeShape : SideBySide<threads, steps_of_thread> {
    static constexpr int resident_blocks = blocks;
};

/// Each thread block takes a share of the path; the last one may be shorter.
template <typename Shape>
struct MergeShares {
    Index rows = 0;
    Offset nonzeros = 0;

    [[nodiscard]] constexpr Offset count() const { return (rows + nonzeros + Shape::size - 1) / Shape::size; }
    /// The steps before a share; all of them for share `count()`.
    [[nodiscard]] constexpr Offset begin(Offset share) const {
        const Offset steps = share * Shape::size;
        return steps < rows + nonzeros ? steps : rows + nonzeros;
    }
    /// The number of row ends before a share, which is its first row. row_ends: [rows].
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

// An odd number of steps: the threads of a warp that follow their parts access different banks of shared memory.
using Merge = MergeShape<128, 11, tuned::csr_merge_resident_blocks>;

}  // namespace workbench
