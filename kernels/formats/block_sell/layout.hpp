// Sliced ELL over rows of square blocks: one column of 16 bits for all values of a block, that is for all pairs of unknowns of
// two mesh nodes. Design of this project, from blocks as in BSR (Im, Yelick, "Optimizing sparse matrix computations for
// register reuse in SPARSITY", 2001) and slices as in SELL-C-sigma (Kreutzer et al., 2014).
#pragma once

#include <algorithm>
#include <array>

#include "kernels/common/schedule/choice.hpp"
#include "kernels/common/schemes/short_columns.hpp"
#include "kernels/common/storage/coded_values.hpp"
#include "kernels/common/storage/pattern.hpp"
#include "kernels/common/storage/stored_layout.hpp"

namespace workbench {

inline constexpr Index largest_node = 6;  // unknowns, which are the sums of a thread

/// The kernels are compiled for blocks of these sizes.
[[nodiscard]] constexpr bool is_block_size(std::int64_t size) {
    constexpr std::array sizes{1, 2, 3, 4, 6};
    return std::find(sizes.begin(), sizes.end(), size) != sizes.end();
}

/// Default number of threads of a GPU that share a row of blocks, by the mean number of blocks a row.
[[nodiscard]] constexpr Index block_sell_threads_for(Index size, Offset blocks, Index block_rows) {
    const Offset few = size == 1 ? 20 : 8;
    const Offset many = size == 1 ? 48 : 20;
    return blocks <= few * block_rows ? 1 : blocks <= many * block_rows ? 2 : 4;
}

/// Block row i is lane i % slice_height of slice i / slice_height. Block k of lane l of slice s has its column in
/// column_indices[slice_offsets[s] + k * slice_height + l], counted in blocks, and its value of row r and column c in
/// values[slice_offsets[s] * size^2 + ((k * size + r) * size + c) * slice_height + l], so that the lanes of a warp read
/// adjacent values. If Value is a CodedBlock, the code of all its values is at the place of its column instead. Padding has
/// value 0; blocks of padding have the last column of their row, or in a row without blocks the first of
/// their slice. If the block size does not divide the size of the matrix,
/// the last blocks exceed it.
template <typename Value, template <typename> typename Array>
struct BlockSell : SliceColumns<std::uint16_t, Array>, MatrixSize {
    Index block_size = 1;
    Index threads_per_row = 1;            // GPU threads per block row
    Index slice_height = 32;              // block rows per slice: 32 / threads_per_row, so that a warp has a slice
    Array<Offset> slice_offsets;          // [slices + 1] first block of each slice; multiples of slice_height
    Array<std::uint16_t> column_indices;  // [blocks]
    ValueArray<Value, Array> values;      // [blocks * block_size * block_size]

    static constexpr auto fields() {
        return field_list(MatrixSize::fields(), number_field<&BlockSell::block_size>(),
                          number_field<&BlockSell::threads_per_row>(), number_field<&BlockSell::slice_height>(),
                          structure_array<&BlockSell::slice_offsets>("slices + 1"),
                          column_array<&BlockSell::column_indices>("blocks"),
                          coded_value_array<&BlockSell::values>(has_codes ? "blocks" : "blocks * block_size * block_size"),
                          SliceColumns<std::uint16_t, Array>::fields());
    }

    static constexpr bool has_codes = HasDictionary<ValueArray<Value, Array>>;

    [[nodiscard]] constexpr Offset slice_count() const { return static_cast<Offset>(slice_offsets.size()) - 1; }
};

/// The blocks that a thread reads: with t threads per block row, every t-th block of the row.
struct BlockSellRun {
    Offset block_row = -1;  // -1: none
    int turn = 0;           // the number of the thread within its row
    Index count = 0;        // number of blocks
    Offset first_block = 0;
    Offset first_value = 0;
    Index first_column = 0;  // in blocks
    bool wide = false;
    Offset to_high = 0;  // distance from a block to the upper half of its column

    // The threads of a warp have adjacent blocks.
    [[nodiscard]] constexpr Offset block(Offset k) const { return first_block + k * 32; }
};

/// One slice per warp: thread t of a row has its blocks t, t + threads, ... known_size, known_threads: 0 if the value is not
/// known at compile time. kind: of_slices if no slice is wide.
template <int known_size, int known_threads, SliceKind kind = SliceKind{ColumnKind::of_wide_slices}>
struct BlockSellThreads {
    static constexpr int size(const auto& sell) { return known_size == 0 ? sell.block_size : known_size; }
    static constexpr int row_threads(const auto& sell) { return known_threads == 0 ? sell.threads_per_row : known_threads; }
    static constexpr Offset threads(const auto& sell) { return sell.slice_count() * 32; }

    static constexpr BlockSellRun run(const auto& sell, Offset thread) {
        const Offset slice = thread / 32;
        if (slice >= sell.slice_count()) return {};
        const int height = 32 / row_threads(sell);
        const int lane = static_cast<int>(thread % 32) % height;
        const int turn = static_cast<int>(thread % 32) / height;
        const Offset begin = sell.slice_offsets[slice];
        const auto width = static_cast<Index>((sell.slice_offsets[slice + 1] - begin) / height);
        const int area = size(sell) * size(sell);
        const auto columns = with_columns_of_slice<kind>(sell, Run<int>{}, slice);
        BlockSellRun run{.block_row = slice * height + lane,
                         .turn = turn,
                         .count = (width - turn + row_threads(sell) - 1) / row_threads(sell),
                         .first_block = begin + thread % 32,
                         .first_value = (begin + Offset{turn} * height) * area + lane,
                         .first_column = columns.first_column};
        if constexpr (kind.columns == ColumnKind::of_wide_slices) {
            run.wide = columns.wide;
            run.to_high = columns.to_high;
        }
        return run;
    }
    /// The first column of the run's block k.
    static constexpr Index column(const auto& sell, const BlockSellRun& run, Index k, const auto& load) {
        Index column = load(sell.column_indices.data() + run.block(k));
        if (kind.columns == ColumnKind::of_wide_slices && run.wide) {
            column |= Index{load(sell.high_columns.data() + (run.block(k) + run.to_high))} << 16;
        }
        return (run.first_column + column) * size(sell);
    }
    /// The slot of value number j of the run's block k; values are numbered along the rows of a block.
    static constexpr Offset value(const auto& sell, const BlockSellRun& run, Index k, int j) {
        const int area = size(sell) * size(sell);
        if constexpr (std::remove_cvref_t<decltype(sell)>::has_codes) return run.block(k) * area + j;
        return run.first_value + Offset{k} * 32 * area + j * (32 / row_threads(sell));
    }
};

/// A row of the blocks of a block row, block after block.
template <int size, bool has_codes>
struct RowOfSlice {
    Index row = -1;
    Offset count = 0;
    Index first_column = 0;
    Offset first_block = 0;  // of the block row
    Offset first_value = 0;  // likewise
    Index height = 0;        // of the slice
    Index row_of_block = 0;
    Index first_of_slice = 0;  // block column
    bool wide = false;
    Offset to_high = 0;

    [[nodiscard]] static constexpr Offset number(Offset k) { return static_cast<unsigned>(k) / unsigned{size}; }
    [[nodiscard]] constexpr Offset block(Offset k) const { return first_block + number(k) * height; }
    [[nodiscard]] constexpr Offset slot(Offset k) const {
        const Offset in_block = row_of_block * size + k % size;
        if constexpr (has_codes) return block(k) * size * size + in_block;
        return first_value + (number(k) * size * size + in_block) * height;
    }
};

/// One thread a row, for several vectors on the host.
template <int size>
struct BlockSellRows final : ScheduleBase<Hooks{.no_column = NoColumn::slot_read, .stores_zeros = true, .own_column = true}> {
    static constexpr Offset threads(const auto& sell) { return sell.row_count; }
    static constexpr auto run(const auto& sell, Offset row, const auto&) {
        const Offset block_row = row / size;
        const Offset slice = block_row / sell.slice_height;
        const Offset lane = block_row % sell.slice_height;
        const Offset begin = sell.slice_offsets[slice];
        const auto columns = with_columns_of_slice<SliceKind{ColumnKind::of_wide_slices}>(sell, Run<int>{}, slice);
        return RowOfSlice<size, std::remove_cvref_t<decltype(sell)>::has_codes>{
            .row = static_cast<Index>(row),
            .count = (sell.slice_offsets[slice + 1] - begin) / sell.slice_height * size,
            .first_block = begin + lane,
            .first_value = begin * size * size + lane,
            .height = sell.slice_height,
            .row_of_block = static_cast<Index>(row % size),
            .first_of_slice = columns.first_column,
            .wide = columns.wide,
            .to_high = columns.to_high};
    }
    static constexpr Index column(const auto& sell, const auto& run, const RunSlot& place, const auto& load) {
        const Offset block = run.block(place.k);
        Index column = load(sell.column_indices.data() + block);
        if (run.wide) column |= Index{load(sell.high_columns.data() + (block + run.to_high))} << 16;
        column = (run.first_of_slice + column) * size + static_cast<Index>(place.k % size);
        return column < sell.column_count ? column : -1;
    }
};

struct BlockSellRow {
    static auto choose(const auto& sell, const auto& use) {
        return with_known<1, 2, 3, 4, 6>(sell.block_size, [&](auto size) { return use(BlockSellRows<size>{}); });
    }
};

/// Calls use(Known<block_size>).
void with_block_size(const auto& sell, const auto& use) { with_known<1, 2, 3, 4, 6>(sell.block_size, use); }

/// Values in full, or codes of blocks.
template <ValueType Value>
struct BlockSellLayout final : VariantLayout<Value, BlockSell<Value, HostArray>, BlockSell<CodedBlock<Value>, HostArray>> {
    static constexpr const char* name = "block_sell";
    Pattern pattern;  // distinguishes nonzeros from padding; no kernel reads it
    void transfer(Transfer& all) override { this->transfer_with(all, pattern); }
    [[nodiscard]] std::vector<Index> rows_of_padding() const override { return pattern.rows_without_nonzeros(); }
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> notes() const override;
};

/// The CUDA kernel `warps`.
template <ValueType Value>
struct BlockSellWarps;

[[nodiscard]] LayoutEntry block_sell_entry();

template <ValueType Value>
using BlockSellOnGpu = StoredOnDevice<decltype(BlockSellLayout<Value>::stored)>;

/// The CUDA kernel `warps` of arrays that were made on the GPU.
template <ValueType Value>
[[nodiscard]] std::unique_ptr<Kernel<Value>> block_sell_kernel_on_gpu(BlockSellOnGpu<Value>&& stored, Device& device);

}  // namespace workbench
