// The kernel of block_sell for the host.
#pragma once

#include <algorithm>
#include <array>
#include <numeric>
#include <type_traits>

#include "core/contract/kernel.hpp"
#include "kernels/common/schedule/host_rows.hpp"
#include "kernels/device/host_loops.hpp"
#include "kernels/formats/block_sell/layout.hpp"

namespace workbench {

/// Slices in parallel. A row adds its blocks in their order, and the columns of a block from left to right.
template <ValueType Value>
class BlockSellSlices final : public Kernel<Value> {
public:
    explicit BlockSellSlices(const BlockSellLayout<Value>& layout) : layout_(layout) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        // The compiler unrolls the product of a block whose size is a constant.
        with_stored(layout_, [&](const auto& sell) {
            with_block_size(sell, [&](auto size) { multiply<size>(view_of(sell), x, y, accumulate); });
        });
    }

private:
    template <int size>
    void multiply(const auto& sell, const Value* x, Value* y, bool accumulate) const {
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
        const Offset first_row = slice * sell.slice_height * size;
        const Offset rows = std::min(Offset{sell.slice_height} * size, sell.row_count - first_row);
        std::array<Value, 32 * size> before;
        if (size > 1 && accumulate) std::copy_n(y + first_row, rows, before.begin());
        const Value total = multiply_rows<size, lanes>(sell, slice, rows, x, y, accumulate);
        // Blocks of 1 x 1 have no padding inside, and others have columns of their row.
        if (size == 1 || is_finite(total)) [[likely]]
            return;
        if (accumulate) std::copy_n(before.begin(), rows, y + first_row);
        multiply_nonzeros<size>(sell, slice, rows, x, y, accumulate);
    }

    /// Returns the total of the first rows of its block rows. It is not finite if a NaN or an infinity of x reaches any row, as
    /// the rows of a block share columns.
    template <int size, int lanes>
    static Value multiply_rows(const auto& sell, Offset slice, Offset rows, const Value* x, Value* y, bool accumulate) {
        const BlockSellRun run = BlockSellThreads<size, 0>::run(sell, slice * 32);
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
        return put_rows<size>(sums, height, slice * height * size, rows, y, accumulate);
    }

    /// Returns the total of the first rows of the block rows.
    template <int size>
    static Value put_rows(const Sums<size>& sums, Offset height, Offset first_row, Offset rows, Value* y, bool accumulate) {
        for (int i = 0; i < rows; ++i) put(y, static_cast<Index>(first_row + i), sums[i % size][i / size], accumulate);
        if constexpr (size == 1) return 0;
        std::array<Value, fewest_rows> totals{};
        for (Offset lane = 0; lane < height; lane += fewest_rows) {
            for (int i = 0; i < fewest_rows; ++i) totals[i] += sums[0][lane + i];
        }
        return std::accumulate(totals.begin(), totals.end(), Value{0});
    }

    /// Like multiply_rows, without padding.
    template <int size>
    [[gnu::cold]] void multiply_nonzeros(const auto& sell, Offset slice, Offset rows, const Value* x, Value* y,
                                         bool accumulate) const {
        using Threads = BlockSellThreads<size, 0>;
        const Offset height = sell.slice_height;
        const BlockSellRun run = Threads::run(sell, slice * 32);
        Sums<size> sums{};
        for (Offset block = 0; block < sell.slice_offsets[slice + 1] - sell.slice_offsets[slice]; ++block) {
            const Offset first = Threads::column(sell, run_of_block(run, block), 0, PlainLoad{});
            const Offset lane = block % height;
            for (int j = 0; j < size * size; ++j) {
                if (!layout_.pattern.has((slice * height + lane) * size + j / size, first + j % size)) continue;
                sums[j / size][lane] += value_in_block<size>(sell, run, block, j) * x[first + j % size];
            }
        }
        (void)put_rows<size>(sums, height, slice * height * size, rows, y, accumulate);
    }

    /// Value j of a block of a slice; run: that of the slice's first lane.
    template <int size>
    [[nodiscard]] static Value value_in_block(const auto& sell, const BlockSellRun& run, Offset block, int j) {
        if constexpr (std::remove_cvref_t<decltype(sell)>::has_codes) {
            return sell.values.block(run.first_block + block)[j];
        } else {
            const Offset of_step = block / sell.slice_height * sell.slice_height * size * size;
            return sell.values[run.first_value + of_step + Offset{j} * sell.slice_height + block % sell.slice_height];
        }
    }

    /// Adds blocks [begin, end) of the rows of neighbouring lanes.
    template <int size, int lanes>
    static void add_columns_of_blocks(const auto& sell, BlockSellRun run, Index begin, Index end, Index lane, const Value* x,
                                      Sums<size>& all_sums) {
        using Threads = BlockSellThreads<size, 0>;
        constexpr int area = size * size;
        std::array<std::array<Value, lanes>, size> sums;
        for (int r = 0; r < size; ++r) std::copy_n(all_sums[r].begin() + lane, lanes, sums[r].begin());
        const Index height = height_of<lanes>(sell);
        const bool all_whole = sell.column_count % size == 0;
        run.first_block += lane;
        for (Index k = begin; k < end; ++k) {
            const Offset before = Offset{k} * height;  // blocks
            std::array<Index, lanes> first;
            for (int i = 0; i < lanes; ++i) first[i] = Threads::column(sell, run_of_block(run, before + i), 0, PlainLoad{});
            if constexpr (std::remove_cvref_t<decltype(sell)>::has_codes) {
                add_coded_blocks<size, lanes>(sell, run.first_block + before, x, first, sums);
            } else {
                const Value* const blocks = sell.values.data() + run.first_value + before * area;
                const Value* const ahead = blocks + lane * area + bytes_ahead / static_cast<Offset>(sizeof(Value));
                for (int i = 0; i < area * lanes; i += 64 / int{sizeof(Value)}) __builtin_prefetch(ahead + i);
                if (all_whole || *std::max_element(first.begin(), first.end()) <= sell.column_count - size) {
                    add_blocks<size, lanes>(blocks + lane, height, x, first, sums);
                } else {
                    add_last_blocks<size, lanes>(blocks + lane, sell, x, first, sums);
                }
            }
        }
        for (int r = 0; r < size; ++r) std::copy_n(sums[r].begin(), lanes, all_sums[r].begin() + lane);
    }

    [[nodiscard]] static BlockSellRun run_of_block(BlockSellRun run, Offset block) {
        run.first_block += block;
        return run;
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

    /// Like add_blocks, for codes, of which `block` is the first.
    template <int size, int lanes>
    static void add_coded_blocks(const auto& sell, Offset block, const Value* x, const std::array<Index, lanes>& first,
                                 std::array<std::array<Value, lanes>, size>& sums) {
        for (int i = 0; i < lanes; ++i) {
            const Value* const values = sell.values.block(block + i);
            const Index there = std::min(size, sell.column_count - first[i]);
            for (Index c = 0; c < there; ++c) {
#pragma GCC unroll 6
                for (int r = 0; r < size; ++r) sums[r][i] += values[r * size + c] * x[first[i] + c];
            }
        }
    }

    /// Like add_blocks, for blocks that may exceed the matrix.
    template <int size, int lanes>
    static void add_last_blocks(const Value* values, const BlockSell<Value, ArrayView>& sell, const Value* x,
                                const std::array<Index, lanes>& first, std::array<std::array<Value, lanes>, size>& sums) {
        for (int i = 0; i < lanes; ++i) {
            for (int j = 0; j < size * size; ++j) {
                if (j % size >= sell.column_count - first[i]) continue;
                sums[j / size][i] += values[Offset{j} * sell.slice_height + i] * x[first[i] + j % size];
            }
        }
    }

    const BlockSellLayout<Value>& layout_;
};

}  // namespace workbench
