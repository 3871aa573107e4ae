// Shares of the merge path: Merrill and Garland, "Merge-based Parallel Sparse Matrix-Vector Multiplication" (SC 2016). The path
// merges the ends of the rows with the numbers of the nonzeros: each step takes a nonzero while its row has one left, otherwise
// the end of the row. Equal shares of its rows + nonzeros steps are equal work for any row lengths.
#pragma once

#include "kernels/common/entry/run_time_kernel.hpp"
#include "kernels/common/schedule/side_by_side.hpp"
#include "kernels/common/schedule/vector_tiles.hpp"

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

/// Each thread block takes a share of the path of `size` steps; the last one may be shorter.
struct MergeShares {
    Index rows = 0;
    Offset nonzeros = 0;
    int size = 1;

    [[nodiscard]] constexpr Offset count() const { return (rows + nonzeros + size - 1) / size; }
    /// The steps before a share; all of them for share `count()`.
    [[nodiscard]] constexpr Offset begin(Offset share) const {
        const Offset steps = share * size;
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

/// A thread block of the kernel for several vectors. The threads that share a row of X are a group, and each group follows its
/// part of the block's share.
struct MergeGroups {
    VectorTiles vectors;
    int threads = 128;
    int steps = 1;  // of a group
    int batch = 4;  // nonzeros whose rows of X a group loads before it adds the first

    [[nodiscard]] constexpr int groups() const { return threads / vectors.parts; }
    [[nodiscard]] constexpr int size() const { return groups() * steps; }
    /// The nonzeros that a thread loads, if the share has no row end.
    [[nodiscard]] constexpr int loads() const { return (size() + threads - 1) / threads; }
    /// The first step of a group, of the `count` steps of the share.
    [[nodiscard]] constexpr int begin(int group, int count) const { return group * steps < count ? group * steps : count; }
};

/// The steps of a group are an odd number, for the reason above. A thread has one packet, because registers of more leave room
/// for fewer threads (docs/results/several-vectors.md).
[[nodiscard]] constexpr MergeGroups merge_groups(int vectors, int value_bytes) {
    constexpr int lanes = 2;  // so that the parts are a power of two
    constexpr int bytes_of_part = 16;
    const VectorTiles tiles = vector_tiles(lanes, vectors, value_bytes, bytes_of_part);
    return {.vectors = tiles, .threads = 128, .steps = tiles.parts < 4 ? 11 : tiles.parts == 4 ? 25 : 33};
}

#ifndef __CUDACC_RTC__

/// The kernel for several vectors, which NVRTC compiles (merge_vectors.cuh).
template <typename View, typename Value>
[[nodiscard]] KernelInstance merge_instance(int vectors) {
    const std::string name = "csr_merge::multiply_shares_of_vectors<" + std::to_string(vectors);
    return {"csr/merge_vectors.cuh", with_types<View, Value>(name) + ">", false};
}

#endif

}  // namespace workbench
