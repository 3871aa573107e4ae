// Rows of square blocks: blocks that hold a nonzero are stored whole, with one column each. `bsr` stores rows of blocks one by
// one (block compressed sparse rows), `block_sell` in slices, as sliced ELL does with rows, with columns of 16 bits.
// Sources: Im, Yelick, "Optimizing sparse matrix computations for register reuse in SPARSITY" (2001); the arrays of bsr are
// those of cuSPARSE, and their size follows Wikberg, "Unstructured mesh FVM with GPU" (dissertation, 2025), eq. 4.3.
// block_sell is a design of this project, from such blocks and the slices of SELL-C-sigma (Kreutzer et al., 2014).
#pragma once

#include <algorithm>
#include <array>
#include <variant>

#include "kernels/common/schedule/choice.hpp"
#include "kernels/common/schemes/short_columns.hpp"
#include "kernels/common/storage/coded_values.hpp"
#include "kernels/common/storage/pattern.hpp"
#include "kernels/common/storage/stored_layout.hpp"

namespace workbench {

inline constexpr Index largest_node = 6;  // unknowns, which are the sums of a thread

/// The kernels of slices are compiled for blocks of these sizes.
[[nodiscard]] constexpr bool is_block_size(std::int64_t size) {
    constexpr std::array sizes{1, 2, 3, 4, 6};
    return std::find(sizes.begin(), sizes.end(), size) != sizes.end();
}

/// Default number of threads of a GPU that share a row of blocks in a slice, by the mean number of blocks a row.
[[nodiscard]] constexpr Index block_sell_threads_for(Index size, Offset blocks, Index block_rows) {
    const Offset few = size == 1 ? 20 : 8;
    const Offset many = size == 1 ? 48 : 20;
    return blocks <= few * block_rows ? 1 : blocks <= many * block_rows ? 2 : 4;
}

/// The division of block rows among the lanes of a warp. A group of lanes takes a block row: its lanes cover `rows_at_once`
/// rows of `blocks_at_once` neighbouring blocks, so that they read neighbouring values, and advance together. Blocks with more
/// values than a warp has lanes take several passes, each over some of their rows.
struct BsrLanes {
    int rows_at_once = 1;
    int blocks_at_once = 1;
    int tile = 1;             // lanes over one block: rows_at_once * block size
    int groups_per_warp = 1;  // block rows of a warp; the remaining lanes are idle

    static constexpr auto fields() {
        return field_list(number_field<&BsrLanes::rows_at_once>(), number_field<&BsrLanes::blocks_at_once>(),
                          number_field<&BsrLanes::tile>(), number_field<&BsrLanes::groups_per_warp>());
    }
};

/// So many blocks at once that a lane has at most two steps in a block row of mean length, if a warp has the lanes.
[[nodiscard]] constexpr BsrLanes bsr_lanes(Index block_size, Index block_rows, Offset blocks) {
    BsrLanes lanes;
    lanes.rows_at_once = std::min(block_size, 32 / block_size);
    lanes.tile = lanes.rows_at_once * block_size;
    const int most_at_once = lanes.rows_at_once < block_size ? 1 : 32 / lanes.tile;
    int wanted = 1;
    while (wanted < most_at_once && Offset{2} * wanted * block_rows < blocks) wanted *= 2;
    lanes.groups_per_warp = std::max(32 / (wanted * lanes.tile), 1);
    lanes.blocks_at_once = std::min(32 / lanes.groups_per_warp / lanes.tile, most_at_once);
    return lanes;
}

/// The places of blocks whose rows are stored one by one: slices of one row.
template <bool in_slices, template <typename> typename Array>
struct BlockPlaces : MatrixSize {
    static constexpr Known<1> slice_height{};
    BsrLanes lanes;
    Index block_size = 1;
    Array<Index> block_offsets;  // first block of each block row
    Array<Index> block_columns;  // ascending in each block row

    static constexpr auto fields() {
        return field_list(MatrixSize::fields(), nested_fields<&BlockPlaces::lanes>(), number_field<&BlockPlaces::block_size>(),
                          structure_array<&BlockPlaces::block_offsets>("block rows + 1"),
                          column_array<&BlockPlaces::block_columns>("blocks"));
    }
    [[nodiscard]] constexpr const auto& offsets() const { return block_offsets; }
    [[nodiscard]] constexpr const auto& columns() const { return block_columns; }
};
/// The places of blocks in slices, of which a warp has one.
template <template <typename> typename Array>
struct BlockPlaces<true, Array> : MatrixSize {
    Index block_size = 1;
    Index threads_per_row = 1;            // GPU threads per block row
    Index slice_height = 32;              // block rows per slice: 32 / threads_per_row
    Array<Offset> slice_offsets;          // [slices + 1] first block of each slice; multiples of slice_height
    Array<std::uint16_t> column_indices;  // [blocks]

    static constexpr auto fields() {
        return field_list(MatrixSize::fields(), number_field<&BlockPlaces::block_size>(),
                          number_field<&BlockPlaces::threads_per_row>(), number_field<&BlockPlaces::slice_height>(),
                          structure_array<&BlockPlaces::slice_offsets>("slices + 1"),
                          column_array<&BlockPlaces::column_indices>("blocks"));
    }
    [[nodiscard]] constexpr const auto& offsets() const { return slice_offsets; }
    [[nodiscard]] constexpr const auto& columns() const { return column_indices; }
};

/// Block row i is lane i % slice_height of slice i / slice_height. Block k of lane l of slice s has its column, counted in
/// blocks, in columns()[offsets()[s] + k * slice_height + l], and its value of row r and column c in
/// values[offsets()[s] * size^2 + ((k * size + r) * size + c) * slice_height + l], so that the lanes of a warp read adjacent
/// values. If StoredValue is a CodedBlock, the code of all its values is at the place of its column instead. Padding has value
/// 0; blocks of padding have the last column of their row, or in a row without blocks the first of their slice. If the block
/// size does not divide the size of the matrix, the last blocks exceed it. Rows one by one have no blocks of padding, and a
/// dictionary without zeros for them. InSlices: std::true_type or std::false_type.
template <typename StoredValue, typename InSlices, template <typename> typename Array>
struct RowsOfBlocks : SliceColumns<std::conditional_t<InSlices::value, std::uint16_t, Index>, Array>,
                      BlockPlaces<InSlices::value, Array> {
    static constexpr bool in_slices = InSlices::value;
    static constexpr bool has_codes = HasDictionary<ValueArray<StoredValue, Array>>;
    ValueArray<StoredValue, Array> values;

    static constexpr auto fields() {
        return field_list(BlockPlaces<in_slices, Array>::fields(),
                          coded_value_array<&RowsOfBlocks::values>(has_codes ? "blocks" : "blocks * block_size * block_size"),
                          SliceColumns<std::conditional_t<in_slices, std::uint16_t, Index>, Array>::fields());
    }
    [[nodiscard]] constexpr Offset slice_count() const { return static_cast<Offset>(this->offsets().size()) - 1; }
    [[nodiscard]] constexpr int area() const { return this->block_size * this->block_size; }
};
template <typename StoredValue, template <typename> typename Array>
using Bsr = RowsOfBlocks<StoredValue, std::false_type, Array>;
template <typename StoredValue, template <typename> typename Array>
using BlockSell = RowsOfBlocks<StoredValue, std::true_type, Array>;

/// Calls use(Known<block size>), or use(Known<0>) if kernels are not compiled for it.
template <typename Blocks>
auto with_block_size(const Blocks& blocks, const auto& use) {
    if constexpr (Blocks::in_slices) {
        return with_known<1, 2, 3, 4, 6>(blocks.block_size, use);
    } else {
        return blocks.block_size > largest_node ? use(Known<0>{}) : with_known<2, 3, 4, 5, 6>(blocks.block_size, use);
    }
}

/// The column of a block, in blocks. of_slice: what with_columns_of_slice found, which rows one by one do not read.
template <typename Integer = Index, typename Blocks>
[[nodiscard]] constexpr Integer block_column(const Blocks& blocks, const auto& of_slice, Offset block, const auto& load) {
    Integer column = load(blocks.columns().data() + block);
    if constexpr (!Blocks::in_slices) {
        return column;
    } else {
        if constexpr (requires { of_slice.wide; }) {
            if (of_slice.wide) column |= Integer{load(blocks.high_columns.data() + (block + of_slice.to_high))} << 16;
        }
        return of_slice.first_column + column;
    }
}

// ---- Rows one by one: kernel `groups`.

/// The values that a lane reads of one row of its blocks.
struct BlockRun : Run<int> {
    Offset first_block = 0;
    int block_stride = 1;
    int c = 0;  // the column of the blocks
};

/// The part of a lane's work that is the same in all passes over its block row.
struct BsrPlace {
    bool works = false;
    Offset block_row = 0;
    int turn = 0;  // its block among those taken at once
    int r = 0;     // its row among those taken at once
    int c = 0;     // its column
};

/// One group of lanes per block row. known_size: the block size if it is known at compile time, otherwise 0.
/// slot_read: the last block column may reach beyond the matrix.
template <int known_size>
struct BsrGroups final : ScheduleBase<Hooks{.no_column = NoColumn::slot_read, .own_column = true}> {
    static constexpr int size_of(const auto& bsr) { return known_size == 0 ? bsr.block_size : known_size; }
    static constexpr int rows_at_once(const auto& bsr) {
        return known_size == 0 ? bsr.lanes.rows_at_once : std::min(known_size, 32 / std::max(known_size, 1));
    }
    static constexpr Offset warps(const auto& bsr) {
        const Offset groups = bsr.lanes.groups_per_warp;
        return (bsr.slice_count() + groups - 1) / groups;
    }
    static constexpr BsrPlace place(const auto& bsr, Offset warp, int lane) {
        const int size = size_of(bsr);
        const int tile = rows_at_once(bsr) * size;
        const int group = lane / (tile * bsr.lanes.blocks_at_once);
        const int in_group = lane % (tile * bsr.lanes.blocks_at_once);
        const Offset block_row = warp * bsr.lanes.groups_per_warp + group;
        return {.works = group < bsr.lanes.groups_per_warp && block_row < bsr.slice_count(),
                .block_row = block_row,
                .turn = in_group / tile,
                .r = in_group % tile / size,
                .c = in_group % size};
    }
    /// The run in the pass that begins with row first_row of the blocks. A lane without work has no slots; a lane whose row is
    /// past the last one reads padding.
    static constexpr BlockRun run(const auto& bsr, const BsrPlace& place, int first_row) {
        const int size = size_of(bsr);
        const int row_of_block = first_row + place.r;
        if (!place.works || row_of_block >= size) return {};
        const int stride = bsr.lanes.blocks_at_once;
        const Offset first = Offset{bsr.block_offsets[place.block_row]} + place.turn;
        const Offset row = place.block_row * size + row_of_block;
        return {{row < bsr.row_count ? static_cast<Index>(row) : -1, first * (size * size) + row_of_block * size + place.c,
                 (bsr.block_offsets[place.block_row + 1] - first + stride - 1) / stride, stride * size * size},
                first,
                stride,
                place.c};
    }
    static constexpr Index column(const auto& bsr, const BlockRun& run, const RunSlot& place, const auto&) {
        const Index block_column = bsr.block_columns[run.first_block + place.k * run.block_stride];
        const unsigned column = static_cast<unsigned>(block_column) * size_of(bsr) + run.c;  // below 2^31 + size
        return column < static_cast<unsigned>(bsr.column_count) ? static_cast<Index>(column) : -1;
    }
};

// ---- Slices: kernel `warps`.

/// The blocks that a thread reads: with t threads per block row, every t-th block of the row.
struct BlockSellRun {
    Offset block_row = -1;  // -1: none
    int turn = 0;           // the number of the thread within its row
    Index count = 0;        // number of blocks
    Offset first_block = 0;
    Offset first_value = 0;
    Index first_column = 0;  // in blocks

    // The threads of a warp have adjacent blocks.
    [[nodiscard]] constexpr Offset block(Offset k) const { return first_block + k * 32; }
};

/// One slice per warp: thread t of a row has its blocks t, t + threads, ... of_size, of_threads: 0 if the value is not
/// known at compile time. kind: of_slices if no slice is wide.
template <int of_size, int of_threads, SliceKind kind = SliceKind{ColumnKind::of_wide_slices}>
struct BlockSellThreads {
    static constexpr int known_size = of_size;
    static constexpr int known_threads = of_threads;
    static constexpr int size(const auto& sell) { return known_size == 0 ? sell.block_size : known_size; }
    static constexpr int row_threads(const auto& sell) { return known_threads == 0 ? sell.threads_per_row : known_threads; }
    static constexpr Offset threads(const auto& sell) { return sell.slice_count() * 32; }

    static constexpr auto run(const auto& sell, Offset thread) {
        const Offset slice = thread / 32;
        using Found = decltype(with_columns_of_slice<kind>(sell, BlockSellRun{}, slice));
        if (slice >= sell.slice_count()) return Found{};
        const int height = 32 / row_threads(sell);
        const int lane = static_cast<int>(thread % 32) % height;
        const int turn = static_cast<int>(thread % 32) / height;
        const Offset begin = sell.slice_offsets[slice];
        const auto width = static_cast<Index>((sell.slice_offsets[slice + 1] - begin) / height);
        const int area = size(sell) * size(sell);
        return with_columns_of_slice<kind>(
            sell,
            BlockSellRun{slice * height + lane, turn, (width - turn + row_threads(sell) - 1) / row_threads(sell),
                         begin + thread % 32, (begin + Offset{turn} * height) * area + lane},
            slice);
    }
    /// The first column of the run's block k.
    static constexpr Index column(const auto& sell, const auto& run, Index k, const auto& load) {
        return block_column(sell, run, run.block(k), load) * size(sell);
    }
    /// The slot of value number j of the run's block k; values are numbered along the rows of a block.
    static constexpr Offset value(const auto& sell, const BlockSellRun& run, Index k, int j) {
        const int area = size(sell) * size(sell);
        if constexpr (std::remove_cvref_t<decltype(sell)>::has_codes) return run.block(k) * area + j;
        return run.first_value + Offset{k} * 32 * area + j * (32 / row_threads(sell));
    }
};

// ---- One thread a row of the matrix, in any of these arrays.

/// A row of the blocks of a block row, block after block. known_size: as in BsrGroups. Height: of the slice.
template <int known_size, typename Height>
struct RowInBlocks {
    Index row = -1;
    Offset count = 0;
    Index first_column = 0;
    Index size = known_size;  // of a block
    Height height{};
    Index between = 1;       // from a slot to the next of the same block
    Offset first_block = 0;  // of the block row
    Offset first = 0;        // slot
    RunOfWideSlice<Run<int>> columns = {};

    [[nodiscard]] constexpr unsigned block_size() const { return static_cast<unsigned>(known_size == 0 ? size : known_size); }
    [[nodiscard]] constexpr Offset in_block(Offset k) const { return static_cast<unsigned>(k) % block_size(); }
    /// Blocks from the first one to that of slot k.
    [[nodiscard]] constexpr Offset blocks(Offset k) const { return Offset{static_cast<unsigned>(k) / block_size()} * height; }
    [[nodiscard]] constexpr Offset slot(Offset k) const {
        return first + blocks(k) * block_size() * block_size() + in_block(k) * between;
    }
};

/// For several vectors on the host, and on a GPU for codes of blocks whose rows are stored one by one.
template <int known_size>
struct RowsInBlocks final
    : ScheduleBase<Hooks{.compiled_in = false, .no_column = NoColumn::slot_read, .stores_zeros = true, .own_column = true}> {
    static constexpr Offset threads(const auto& blocks) { return blocks.row_count; }
    template <typename Blocks>
    static constexpr auto run(const Blocks& blocks, Offset row, const auto&) {
        const auto height = blocks.slice_height;
        RowInBlocks<known_size, std::remove_cvref_t<decltype(height)>> run;
        if (row >= blocks.row_count) return run;
        const Index size = known_size == 0 ? blocks.block_size : known_size;
        const Offset slice = row / size / height;
        const Offset begin = blocks.offsets()[slice];
        run.row = static_cast<Index>(row);
        run.count = (blocks.offsets()[slice + 1] - begin) / height * size;
        run.size = size;
        run.height = height;
        run.between = Blocks::has_codes ? 1 : height;
        run.first_block = begin + row / size % height;
        run.first = (Blocks::has_codes ? run.first_block : begin) * size * size + row % size * size * run.between;
        if constexpr (!Blocks::has_codes) run.first += row / size % height;
        if constexpr (Blocks::in_slices) run.columns = with_columns_of_slice<widest_kind<Blocks>>(blocks, Run<int>{}, slice);
        return run;
    }
    static constexpr Index column(const auto& blocks, const auto& run, const RunSlot& place, const auto& load) {
        const auto block = block_column<Offset>(blocks, run.columns, run.first_block + run.blocks(place.k), load);
        const Offset column = block * run.block_size() + run.in_block(place.k);
        return column < blocks.column_count ? static_cast<Index>(column) : -1;
    }
};
struct RowOfBlocks {
    static auto choose(const auto& blocks, const auto& use) {
        return with_block_size(blocks, [&](auto size) { return use(RowsInBlocks<size>{}); });
    }
};

/// Values in full, or codes of blocks.
template <ValueType Value, typename InSlices>
struct BlocksLayout final
    : VariantLayout<Value, RowsOfBlocks<Value, InSlices, HostArray>, RowsOfBlocks<CodedBlock<Value>, InSlices, HostArray>> {
    static constexpr const char* name = "blocks";
    Pattern pattern;  // distinguishes nonzeros from padding; no kernel reads it
    void transfer(Transfer& all) override { this->transfer_with(all, pattern); }
    [[nodiscard]] std::vector<Index> rows_of_padding() const override { return pattern.rows_without_nonzeros(); }
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};
template <typename Value>
using BsrLayout = BlocksLayout<Value, std::false_type>;
template <typename Value>
using BlockSellLayout = BlocksLayout<Value, std::true_type>;

// The CUDA kernels `groups` and `warps`.
template <ValueType Value>
struct BsrKernel;
template <ValueType Value>
struct BlockSellWarps;

[[nodiscard]] LayoutEntry bsr_entry();
[[nodiscard]] std::vector<KernelEntry> bsr_cusparse_kernels();
[[nodiscard]] LayoutEntry block_sell_entry();

template <ValueType Value>
using BlockSellOnGpu = StoredOnDevice<decltype(BlockSellLayout<Value>::stored)>;

/// The CUDA kernel `warps` of arrays that were made on the GPU.
template <ValueType Value>
[[nodiscard]] std::unique_ptr<Kernel<Value>> block_sell_kernel_on_gpu(BlockSellOnGpu<Value>&& stored, Device& device);

}  // namespace workbench
