// The kernels that check a matrix on the GPU and reorder its rows and columns. Each thread writes items of its own number or of
// its own row, so threads cannot race; flags are set, and maxima are found, by atomics or by writes of one same value.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/primitives/workspace.cuh"

namespace workbench::on_gpu {

/// Threads that take one row together.
constexpr int lanes = 16;

/// The lanes of a warp that take the row of this thread.
inline __device__ unsigned lanes_of_row() { return ((1U << lanes) - 1) << (threadIdx.x % 32 / lanes * lanes); }

inline int bits_of(std::uint32_t largest) { return std::numeric_limits<std::uint32_t>::digits - __builtin_clz(largest | 1U); }

/// Calls use(row, lane) for all rows; `lanes` threads take a row.
template <typename Use>
inline __device__ void for_each_row(Index rows, const Use& use) {
    const std::size_t first = (blockIdx.x * std::size_t{block_threads} + threadIdx.x) / lanes;
    for (std::size_t row = first; row < static_cast<std::size_t>(rows); row += gridDim.x * std::size_t{block_threads} / lanes) {
        use(static_cast<Index>(row), threadIdx.x % lanes);
    }
}

template <typename Use>
inline __device__ void for_each_item(std::size_t count, const Use& use) {
    for (std::size_t i = blockIdx.x * std::size_t{block_threads} + threadIdx.x; i < count;
         i += gridDim.x * std::size_t{block_threads}) {
        use(i);
    }
}

struct RowFacts {
    int wrong;              // the offsets decrease or do not end with the nonzeros, or a column is out of range
    int unsorted;           // the columns of a row do not ascend strictly
    std::uint32_t longest;  // row
};

/// Checks the matrix and converts its row offsets.
template <typename Given>
__global__ void check_rows(const Given* __restrict__ given, const Index* __restrict__ columns, Index rows, Index column_count,
                           std::int64_t nonzeros, std::uint32_t* __restrict__ offsets, RowFacts* facts) {
    for_each_row(rows, [&](Index row, unsigned lane) {
        const auto begin = static_cast<std::int64_t>(given[row]);
        const auto end = static_cast<std::int64_t>(given[row + 1]);
        if (begin > end || begin < 0 || end > nonzeros || (row == 0 && begin != 0) || (row == rows - 1 && end != nonzeros)) {
            facts->wrong = 1;
            return;
        }
        if (lane == 0) {
            offsets[row] = static_cast<std::uint32_t>(begin);
            if (row == rows - 1) offsets[rows] = static_cast<std::uint32_t>(end);
            const auto length = static_cast<std::uint32_t>(end - begin);
            if (length > *static_cast<volatile std::uint32_t*>(&facts->longest)) atomicMax(&facts->longest, length);
        }
        for (std::int64_t i = begin + lane; i < end; i += lanes) {
            if (columns[i] < 0 || columns[i] >= column_count) facts->wrong = 1;
            if (i > begin && columns[i - 1] >= columns[i]) facts->unsorted = 1;
        }
    });
}

/// An order and its inverse. given: the old number in each place, or null for the natural order.
static __global__ void invert(const std::uint32_t* __restrict__ given, std::size_t count, Index* __restrict__ old_of_new,
                              Index* __restrict__ new_of_old) {
    for_each_item(count, [&](std::size_t place) {
        const Index old = given == nullptr ? static_cast<Index>(place) : static_cast<Index>(given[place]);
        old_of_new[place] = old;
        new_of_old[old] = static_cast<Index>(place);
    });
}

/// The length of each row of an order, at the place after it.
static __global__ void measure_moved_rows(const std::uint32_t* __restrict__ offsets, const Index* __restrict__ old_of_new,
                                          Index rows, Offset* __restrict__ lengths) {
    for_each_item(static_cast<std::size_t>(rows), [&](std::size_t place) {
        lengths[place + 1] = offsets[old_of_new[place] + 1] - offsets[old_of_new[place]];
        if (place == 0) lengths[0] = 0;
    });
}

static __global__ void number_items(std::size_t count, std::uint32_t* __restrict__ numbers) {
    for_each_item(count, [&](std::size_t i) { numbers[i] = static_cast<std::uint32_t>(i); });
}

/// second[i] = first[second[i]]
template <typename Item>
__global__ void compose(const Item* __restrict__ first, Item* __restrict__ second, std::size_t count) {
    for_each_item(count, [&](std::size_t i) { second[i] = first[second[i]]; });
}

static __global__ void narrow(const Offset* __restrict__ offsets, std::size_t count, std::uint32_t* __restrict__ narrow) {
    for_each_item(count, [&](std::size_t i) { narrow[i] = static_cast<std::uint32_t>(offsets[i]); });
}

/// The rows of an order, whose columns are renumbered and ascend: the rank of an entry is the number of entries of its row with
/// smaller new columns.
static __global__ void reorder_rows(const std::uint32_t* __restrict__ old_offsets, const Index* __restrict__ old_columns,
                                    const Index* __restrict__ old_of_new, const Index* __restrict__ new_columns,
                                    const Offset* __restrict__ offsets, Index rows, Index* __restrict__ columns,
                                    std::uint32_t* __restrict__ entries) {
    for_each_row(rows, [&](Index row, unsigned lane) {
        const std::uint32_t from = old_offsets[old_of_new[row]];
        const Offset to = offsets[row];
        const auto length = static_cast<std::uint32_t>(offsets[row + 1] - to);
        const unsigned mask = lanes_of_row();
        if (length <= lanes) {
            const bool has_entry = lane < length;
            const Index column = has_entry ? new_columns[old_columns[from + lane]] : 0;
            Index rank = 0;
            for (std::uint32_t other = 0; other < length; ++other) {
                if (__shfl_sync(mask, column, static_cast<int>(other), lanes) < column) ++rank;
            }
            if (!has_entry) return;
            columns[to + rank] = column;
            entries[to + rank] = from + lane;
            return;
        }
        for (std::uint32_t k = lane; k < length; k += lanes) {
            const Index column = new_columns[old_columns[from + k]];
            Index rank = 0;
            for (std::uint32_t other = 0; other < length; ++other) {
                if (new_columns[old_columns[from + other]] < column) ++rank;
            }
            columns[to + rank] = column;
            entries[to + rank] = from + k;
        }
    });
}

}  // namespace workbench::on_gpu
