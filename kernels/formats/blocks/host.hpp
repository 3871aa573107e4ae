// The kernels of rows of blocks for the host.
#pragma once

#include <algorithm>
#include <array>
#include <numeric>
#include <type_traits>

#include "core/contract/kernel.hpp"
#include "core/matrix/block_rows.hpp"
#include "kernels/common/schedule/host_rows.hpp"
#include "kernels/device/host_loops.hpp"
#include "kernels/formats/blocks/layout.hpp"

namespace workbench {

/// Rows of blocks, or slices of them, in parallel. A row adds its blocks in their order, and the columns of a block from left
/// to right.
template <ValueType Value, typename InSlices>
class BlocksOnHost final : public Kernel<Value> {
public:
    explicit BlocksOnHost(const BlocksLayout<Value, InSlices>& layout) : layout_(layout) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        // The compiler unrolls the product of a block whose size is a constant.
        with_stored(layout_, [&](const auto& blocks) {
            with_block_size(blocks, [&](auto size) { multiply<size>(view_of(blocks), x, y, accumulate); });
        });
    }

private:
    static constexpr int values_of_line = 64 / sizeof(Value);

    /// known_size: the block size if it is known at compile time, so that the sums of a block are in registers; otherwise 0.
    template <int known_size, typename Blocks>
    requires(!Blocks::in_slices) void multiply(const Blocks& bsr, const Value* x, Value* y, bool accumulate) const {
        constexpr int block_rows_at_once = 128;  // of a thread
        const auto size = [&] {
            if constexpr (known_size == 0) {
                return bsr.block_size;
            } else {
                return Known<known_size>{};
            }
        }();
        const Index whole_columns = bsr.column_count / size;  // of blocks; a block right of them exceeds the matrix
        for_each_in_parallel(bsr.slice_count(), block_rows_at_once, [&](std::int64_t block_row) {
            std::array<Value, known_size == 0 ? largest_block : known_size> sums{};
            const auto add_block = [&](Index block, auto columns) {
                const Value* values = nullptr;
                if constexpr (Blocks::has_codes) {
                    values = bsr.values.block(block);
                } else {
                    values = bsr.values.data() + Offset{block} * size * size;
                    for (int i = 0; i < size * size; i += values_of_line)
                        __builtin_prefetch(values + bytes_ahead / sizeof(Value) + i);
                }
                const Value* const own_x = x + Offset{bsr.block_columns[block]} * size;
                for (Index r = 0; r < size; ++r) {
                    for (Index c = 0; c < columns; ++c) sums[r] += values[r * size + c] * own_x[c];
                }
            };
            const Index end = bsr.block_offsets[block_row + 1];
            Index block = bsr.block_offsets[block_row];
            // Only the last block of a row may exceed the matrix, because columns ascend.
            const Index whole_end = block < end && bsr.block_columns[end - 1] >= whole_columns ? end - 1 : end;
            for (; block < whole_end; ++block) add_block(block, size);
            if (block < end) add_block(block, bsr.column_count - whole_columns * size);
            const std::int64_t first_row = block_row * size;
            const auto rows = static_cast<Index>(std::min<std::int64_t>(size, bsr.row_count - first_row));
            for (Index r = 0; r < rows; ++r) put(y, static_cast<Index>(first_row + r), sums[r], accumulate);
        });
    }

    template <int size, typename Blocks>
    requires(Blocks::in_slices) void multiply(const Blocks& sell, const Value* x, Value* y, bool accumulate) const {
        for_each_in_parallel(sell.slice_count(), 4, [&](std::int64_t slice) {
            if (size <= 3 && sell.slice_height == fewest_rows) {
                multiply_slice<size, fewest_rows>(sell, slice, x, y, accumulate);
            } else {
                multiply_slice<size, 4>(sell, slice, x, y, accumulate);
            }
        });
    }

    static constexpr int fewest_rows = 8;  // of a slice

    /// The height of slices, known at compile time if all of its lanes are multiplied at a time.
    template <int lanes>
    static Index height_of(const auto& sell) {
        return lanes == fewest_rows ? fewest_rows : sell.slice_height;
    }

    /// The sums of a slice: [row of a block][lane].
    template <int size>
    using Sums = std::array<std::array<Value, 32>, size>;

    /// Multiplies some block rows side by side at a time. If a slice has more, one block of each row after another, so that
    /// memory is read in its order.
    template <int size, int lanes>
    void multiply_slice(const auto& sell, Offset slice, const Value* x, Value* y, bool accumulate) const {
        const auto run = BlockSellThreads<size, 0>::run(sell, slice * 32);
        const Index height = height_of<lanes>(sell);
        const auto width = static_cast<Index>((sell.slice_offsets[slice + 1] - sell.slice_offsets[slice]) / height);
        const Index at_once = lanes == fewest_rows ? width : 1;
        Sums<size> sums;
        for (auto& of_row : sums) std::fill_n(of_row.begin(), height, Value{0});
        for (Index first = 0; first < width; first += at_once) {
            for (Index lane = 0; lane < height; lane += lanes) {
                add_columns_of_blocks<size, lanes>(sell, run, first, first + at_once, lane, x, sums);
            }
        }
        const Offset first_row = slice * height * size;
        const Offset rows = std::min(Offset{height} * size, sell.row_count - first_row);
        if (is_finite(total_of<size>(sums, height))) [[likely]] {
            for (int i = 0; i < rows; ++i) put(y, static_cast<Index>(first_row + i), sums[i % size][i / size], accumulate);
        } else {
            for (Offset i = 0; i < rows; ++i) multiply_nonzeros<size>(sell, first_row + i, x, y, accumulate);
        }
    }

    /// Returns the total of the first rows of block rows. It is not finite if a NaN or an infinity of x reaches any row, as the
    /// rows of a block share columns. Blocks of 1 x 1 have no padding inside, and others have columns of their row.
    template <int size>
    static Value total_of(const Sums<size>& sums, Offset height) {
        if constexpr (size == 1) return 0;
        std::array<Value, fewest_rows> totals{};
        for (Offset lane = 0; lane < height; lane += fewest_rows) {
            for (int i = 0; i < fewest_rows; ++i) totals[i] += sums[0][lane + i];
        }
        return std::accumulate(totals.begin(), totals.end(), Value{0});
    }

    /// Multiplies a row without the zeros in blocks.
    template <int size>
    [[gnu::cold]] void multiply_nonzeros(const auto& sell, Offset row, const Value* x, Value* y, bool accumulate) const {
        using Rows = RowsInBlocks<size>;
        const auto run = Rows::run(sell, row, PlainLoad{});
        Value sum = 0;
        for (Offset k = 0; k < run.count; ++k) {
            const RunSlot place{k, run.slot(k)};
            const Index column = Rows::column(sell, run, place, PlainLoad{});
            if (layout_.pattern.has(row, column)) sum += sell.values[place.slot] * x[column];
        }
        put(y, static_cast<Index>(row), sum, accumulate);
    }

    /// Adds blocks [begin, end) of the rows of neighbouring lanes.
    template <int size, int lanes>
    static void add_columns_of_blocks(const auto& sell, auto run, Index begin, Index end, Index lane, const Value* x,
                                      Sums<size>& all_sums) {
        using Threads = BlockSellThreads<size, 0>;
        constexpr int area = size * size;
        std::array<std::array<Value, lanes>, size> sums;
        for (int r = 0; r < size; ++r) std::copy_n(all_sums[r].begin() + lane, lanes, sums[r].begin());
        const Index height = height_of<lanes>(sell);
        const bool all_whole = sell.column_count % size == 0;
        const Offset first_block = run.first_block + lane;
        for (Index k = begin; k < end; ++k) {
            const Offset before = Offset{k} * height;  // blocks
            std::array<Index, lanes> first;
            for (int i = 0; i < lanes; ++i) {
                run.first_block = first_block + before + i;
                first[i] = Threads::column(sell, run, 0, PlainLoad{});
            }
            if constexpr (std::remove_cvref_t<decltype(sell)>::has_codes) {
                const auto block_of = [&](int i) { return sell.values.block(first_block + before + i); };
                add_one_by_one<size, lanes>(block_of, Known<1>{}, sell.column_count, x, first, sums);
            } else {
                const Value* const blocks = sell.values.data() + run.first_value + before * area + lane;
                const Value* const ahead = blocks + lane * (area - 1) + bytes_ahead / static_cast<Offset>(sizeof(Value));
                for (int i = 0; i < area * lanes; i += values_of_line) __builtin_prefetch(ahead + i);
                if (all_whole || *std::max_element(first.begin(), first.end()) <= sell.column_count - size) {
                    add_blocks<size, lanes>(blocks, height, x, first, sums);
                } else {
                    const auto block_of = [&](int i) { return blocks + i; };
                    add_one_by_one<size, lanes>(block_of, height, sell.column_count, x, first, sums);
                }
            }
        }
        for (int r = 0; r < size; ++r) std::copy_n(sums[r].begin(), lanes, all_sums[r].begin() + lane);
    }

    /// Adds a block of each lane. first: its first column.
    template <int size, int lanes>
    static void add_blocks(const Value* values, Index height, const Value* x, const std::array<Index, lanes>& first,
                           std::array<std::array<Value, lanes>, size>& sums) {
#pragma GCC unroll 6
        for (int c = 0; c < size; ++c) {
            std::array<Value, lanes> x_of_lanes;
            for (int i = 0; i < lanes; ++i) x_of_lanes[i] = x[first[i] + c];
#pragma GCC unroll 6
            for (int r = 0; r < size; ++r) {
                const Value* const of_lanes = values + Offset{r * size + c} * height;
                for (int i = 0; i < lanes; ++i) sums[r][i] += of_lanes[i] * x_of_lanes[i];
            }
        }
    }

    /// Like add_blocks, lane by lane, for blocks that may exceed the matrix. block_of(lane): its first value; the others follow
    /// at a distance.
    template <int size, int lanes>
    static void add_one_by_one(const auto& block_of, auto distance, Index column_count, const Value* x,
                               const std::array<Index, lanes>& first, std::array<std::array<Value, lanes>, size>& sums) {
        for (int i = 0; i < lanes; ++i) {
            const Value* const values = block_of(i);
            const Index there = std::min(size, column_count - first[i]);
            for (Index c = 0; c < there; ++c) {
#pragma GCC unroll 6
                for (int r = 0; r < size; ++r) sums[r][i] += values[Offset{r * size + c} * distance] * x[first[i] + c];
            }
        }
    }

    const BlocksLayout<Value, InSlices>& layout_;
};

template <typename Value>
using BsrOnHost = BlocksOnHost<Value, std::false_type>;
template <typename Value>
using BlockSellOnHost = BlocksOnHost<Value, std::true_type>;

}  // namespace workbench
