#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <stdexcept>

#include "kernels/block_sell/layout.hpp"
#include "kernels/common/entry/format.hpp"
#include "kernels/common/storage/blocks.hpp"
#include "kernels/common/storage/predicted.hpp"
#include "kernels/common/storage/slices.hpp"
#include "pipeline/contract/errors.hpp"

namespace workbench {
namespace {

constexpr std::string_view example = R"(
[layout]
use = "block_sell"
block_size = 2
threads_per_row = 4
)";

constexpr std::array<Index, 5> block_sizes{1, 2, 3, 4, 6};

/// Throws Unsuitable if no kernel has blocks of the matrix's nodes.
Index block_size_of(const StagedMatrix& staged, const Parameters& parameters) {
    if (!parameters.is_word("block_size", "auto")) return static_cast<Index>(parameters.integer("block_size"));
    if (std::find(block_sizes.begin(), block_sizes.end(), staged.node_size) != block_sizes.end()) return staged.node_size;
    throw Unsuitable(fmt::format("nodes of {} unknowns, but there are blocks of 1, 2, 3, 4 or 6: set block_size to one of them",
                                 staged.node_size));
}

/// By the mean number of blocks a row.
Index threads_of(const Parameters& parameters, Index size, Offset blocks, Index block_rows) {
    if (!parameters.is_word("threads_per_row", "auto")) return static_cast<Index>(parameters.integer("threads_per_row"));
    const Offset few = size == 1 ? 20 : 8;
    const Offset many = size == 1 ? 48 : 20;
    return blocks <= few * block_rows ? 1 : blocks <= many * block_rows ? 2 : 4;
}

/// The length of each row of blocks, 0 for lanes without a row: [slices * slice_height].
HostArray<Offset> blocks_of_lanes(const HostArray<Index>& block_offsets, Index slice_height) {
    const auto rows = static_cast<Offset>(block_offsets.size()) - 1;
    HostArray<Offset> lengths((rows + slice_height - 1) / slice_height * slice_height, 0);
    for (Offset row = 0; row < rows; ++row) lengths[row] = block_offsets[row + 1] - block_offsets[row];
    return lengths;
}

template <ValueType Value>
HostArray<Offset> slice_offsets_of(const HostArray<Offset>& lengths, Index slice_height, Index block_size, Offset nonzeros) {
    HostArray<Offset> offsets{0};
    for (std::size_t first = 0; first < lengths.size(); first += slice_height) {
        const auto begin = lengths.begin() + static_cast<std::ptrdiff_t>(first);
        offsets.push_back(offsets.back() + *std::max_element(begin, begin + slice_height) * slice_height);
    }
    const double area = static_cast<double>(block_size) * block_size;
    require_bounded_slots(fmt::format("slices of {} rows of blocks of {} x {}", slice_height, block_size, block_size),
                          static_cast<double>(offsets.back()) * area, nonzeros, sizeof(Value) + sizeof(std::uint16_t),
                          {.advice = "rows sorted by length (row_sort) or smaller blocks (block_size) need less padding"});
    return offsets;
}

/// Copies compressed rows of blocks to slices. Returns the columns, not yet narrowed.
template <ValueType Value>
HostArray<Index> copy_blocks(BlockSell<Value, HostArray>& sell, const Blocks<Value, HostArray>& blocks) {
    const Index height = sell.slice_height;
    const Index area = sell.block_size * sell.block_size;
    HostArray<Index> columns;
    make_zeros(columns, sell.slice_offsets.back());
    make_zeros(sell.values, sell.slice_offsets.back() * area);
    for_each_in_parallel(blocks.block_rows(), slice_chunk, [&](std::int64_t row) {
        const Offset begin = sell.slice_offsets[row / height];
        const Offset lane = row % height;
        Offset k = 0;
        for (Offset block = blocks.block_offsets[row]; block < blocks.block_offsets[row + 1]; ++block, ++k) {
            columns[begin + k * height + lane] = blocks.block_columns[block];
            for (Index j = 0; j < area; ++j) {
                sell.values[begin * area + (k * area + j) * height + lane] = blocks.values[block * area + j];
            }
        }
    });
    return columns;
}

constexpr auto fill = []<ValueType Value>(BlockSellLayout<Value>& layout, const StagedMatrix& staged,
                                          const Parameters& parameters) {
    const CsrMatrix& matrix = staged.matrix;
    const CsrView<double> view{matrix.rows, matrix.columns, matrix.row_offsets, matrix.column_indices, matrix.values};
    const Index size = block_size_of(staged, parameters);
    const SlotBound bound{parameters.real("slots_per_nonzero"),
                          "smaller blocks (block_size) have fewer, and slots_per_nonzero allows more"};
    const Blocks<Value, HostArray> blocks = build_blocks<Value>(view, size, bound);
    layout.block_size = size;
    layout.threads_per_row = threads_of(parameters, size, blocks.block_offsets.back(), blocks.block_rows());
    layout.slice_height = 32 / layout.threads_per_row;
    const HostArray<Offset> lengths = blocks_of_lanes(blocks.block_offsets, layout.slice_height);
    layout.slice_offsets = slice_offsets_of<Value>(lengths, layout.slice_height, size, matrix.nonzeros());
    ShortColumns narrow = shorten_columns(copy_blocks<Value>(layout, blocks), {layout.slice_offsets, layout.slice_height,
                                                                               [&](Offset lane) { return lengths[lane]; }});
    layout.column_indices = std::move(narrow.column_indices);
    static_cast<SliceColumns<std::uint16_t, HostArray>&>(layout) = std::move(narrow.of_slices);
    layout.pattern = Pattern(matrix);
};

Needs needs(const Parameters& parameters) {
    if (!parameters.is_word("block_size", "auto")) {
        const std::int64_t size = parameters.integer("block_size");
        if (std::find(block_sizes.begin(), block_sizes.end(), size) == block_sizes.end()) {
            throw ParameterError("block_size", fmt::format("found {}; expected 1, 2, 3, 4 or 6", size));
        }
    }
    if (!parameters.is_word("threads_per_row", "auto") && parameters.integer("threads_per_row") == 3) {
        throw ParameterError("threads_per_row", "found 3; expected 1, 2 or 4");
    }
    return {.unsplit = true};
}

/// The offsets must tile the arrays.
template <ValueType Value>
void require_sound(const BlockSell<Value, HostArray>& sell) {
    const auto whole = [&](Offset offset) { return offset % sell.slice_height == 0; };
    const std::size_t area = std::size_t(sell.block_size) * std::size_t(sell.block_size);
    const bool sound = tiles(sell.slice_offsets, sell.column_indices.size()) &&
                       sell.values.size() == sell.column_indices.size() * area &&
                       std::all_of(sell.slice_offsets.begin(), sell.slice_offsets.end(), whole);
    if (!sound) throw std::logic_error("block_sell: the offsets do not tile the arrays");
    require_sound_columns(sell, sell.slice_offsets);
}

/// The column whose x value number j of a block multiplies; -1: beyond the matrix.
Index column_in_block(const auto& sell, Offset first_column, int j) {
    const Offset column = first_column + j % sell.block_size;
    return column < sell.column_count ? static_cast<Index>(column) : -1;
}

constexpr auto walk_warps = [](const auto& layout, const auto& visit) {
    using Threads = BlockSellThreads<0, 0>;
    const auto& sell = layout.stored();
    const int area = sell.block_size * sell.block_size;
    Slot slot{.array = array_number(sell, sell.values)};
    for (Offset thread = 0; thread < Threads::threads(sell); ++thread) {
        const BlockSellRun run = Threads::run(sell, thread);
        for (Index k = 0; k < run.count; ++k) {
            const Index first_column = Threads::column(sell, run, k, PlainLoad{});
            for (int j = 0; j < area; ++j) {
                const Offset row = run.block_row * sell.block_size + j / sell.block_size;
                slot.index = Threads::value(sell, run, k, j);
                slot.row = row < sell.row_count ? static_cast<Index>(row) : -1;
                slot.column = column_in_block(sell, first_column, j);
                visit(read_of(slot, thread, Offset{k} * area + j));
            }
        }
    }
};

template <ValueType Value>
class BlockSellSlices final : public Kernel<Value> {
public:
    explicit BlockSellSlices(const BlockSellLayout<Value>& layout) : layout_(layout) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        // The compiler unrolls the product of a block whose size it knows.
        with_block_size(layout_, [&](auto size) { multiply<size>(x, y, accumulate); });
    }

private:
    template <int size>
    void multiply(const Value* x, Value* y, bool accumulate) const {
        const BlockSell<Value, ArrayView> sell = view_of(layout_.stored());
        for_each_in_parallel(sell.slice_count(), 1, [&](std::int64_t slice) {
            for (Index lane = 0; lane < sell.slice_height; ++lane) {
                std::array<Value, size> sums{};
                Offset block_row = 0;
                for (Index turn = 0; turn < sell.threads_per_row; ++turn) {
                    using Threads = BlockSellThreads<size, 0>;
                    const BlockSellRun run = Threads::run(sell, slice * 32 + turn * sell.slice_height + lane);
                    block_row = run.block_row;
                    for (Index k = 0; k < run.count; ++k) {
                        const Index first = Threads::column(sell, run, k, PlainLoad{});
                        const Index there = std::min(size, sell.column_count - first);
                        for (int j = 0; j < size * size; ++j) {
                            if (j % size < there)
                                sums[j / size] += sell.values[Threads::value(sell, run, k, j)] * x[first + j % size];
                        }
                    }
                }
                for (int r = 0; r < size && block_row * size + r < sell.row_count; ++r) {
                    put(y, static_cast<Index>(block_row * size + r), sums[r], accumulate);
                }
            }
        });
    }

    const BlockSellLayout<Value>& layout_;
};

LayoutCost predict_block_sell(const PatternForecast& pattern, const Parameters& parameters, Precision precision) {
    constexpr double sectors_of_block = 0.7;  // a thread reads the x of all unknowns of a node at once
    const Index size =
        parameters.is_word("block_size", "auto") ? pattern.node_size() : static_cast<Index>(parameters.integer("block_size"));
    const std::vector<Offset>& lengths = pattern.blocks_of_rows(size);
    Offset sampled = 0;
    for (const Offset length : lengths) sampled += length;
    const Offset blocks = pattern.blocks(size, size);
    const Index threads = threads_of(parameters, size, blocks, static_cast<Index>(pieces_of(pattern.rows(), size)));
    const Index height = 32 / threads;
    const double padding = sampled == 0 ? 1 : static_cast<double>(sell_slots(lengths, height)) / static_cast<double>(sampled);
    const auto slots = static_cast<Offset>(static_cast<double>(blocks) * padding + 0.5);
    const Offset slices = pieces_of(pieces_of(pattern.rows(), size), height);
    const Offset area = Offset{size} * size;
    const std::int64_t bytes =
        slots * (area * value_bytes(precision) + short_bytes) + (slices + 1) * offset_bytes + slices * index_bytes;
    LayoutCost cost = cost_of_arrays(pattern, precision, slots * area, bytes, 1.12);
    cost.exact = pattern.is_exact() && pattern.columns() / size <= std::numeric_limits<std::uint16_t>::max();
    if (size > 1) cost.sectors *= sectors_of_block;
    for (const Offset length : lengths) cost.chain = std::max(cost.chain, length * size);
    LayoutCost of_blocks = cost;  // padding of slices is not limited
    of_blocks.slots = blocks * area;
    refuse_slots(of_blocks, parameters, pattern.nonzeros());
    cost.unsuitable = of_blocks.unsuitable;
    return cost;
}

}  // namespace

template <ValueType Value>
void BlockSellLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    using Lanes = BlockSellThreads<0, 0>;
    require_sound(this->stored());
    const auto& sell = this->stored();
    PatternWalk walk(pattern);
    Slot slot{.array = array_number(sell, sell.values), .column_array = array_number(sell, sell.column_indices)};
    for (Offset slice = 0; slice < sell.slice_count(); ++slice) {
        const Offset begin = sell.slice_offsets[slice];
        const BlockSellRun of_slice = Lanes::run(sell, slice * 32);
        for (Offset first = begin; first < sell.slice_offsets[slice + 1]; first += sell.slice_height) {
            for (int j = 0; j < sell.block_size * sell.block_size; ++j) {
                for (Index lane = 0; lane < sell.slice_height; ++lane, ++slot.index) {
                    slot.column_index = first + lane;
                    Offset block_column = sell.column_indices[slot.column_index];
                    if (of_slice.wide) block_column |= Offset{sell.high_columns[slot.column_index + of_slice.to_high]} << 16;
                    block_column += of_slice.first_column;
                    if (block_column * sell.block_size >= sell.column_count) {
                        throw std::logic_error(
                            fmt::format("block_sell: block {} begins outside the matrix", slot.column_index));
                    }
                    const Offset row = (slice * sell.slice_height + lane) * sell.block_size + j / sell.block_size;
                    slot.row = row < sell.row_count ? static_cast<Index>(row) : -1;
                    slot.column = column_in_block(sell, block_column * sell.block_size, j);
                    slot.nonzero = walk.nonzero_at(slot.row, slot.column);
                    visit(slot);
                }
            }
        }
    }
}

LayoutEntry block_sell_entry() {
    return format<BlockSellLayout>(
               {.summary =
                    "sliced ELL over rows of square blocks, the unknowns of a mesh node, with one column of 16 bits per block",
                .source = "made here; blocks: Im and Yelick (2001), slices: Kreutzer et al. (2014)",
                .examples = {std::string(example)},
                .parameters =
                    {{.name = "block_size",
                      .type = ParameterType::integer,
                      .default_value = std::string("auto"),
                      .minimum = 1,
                      .maximum = largest_node,
                      .words = {"auto"},
                      .unit = "rows",
                      .help =
                          "rows and columns of a block, 1, 2, 3, 4 or 6; auto: the unknowns of a node, from [matrix] or stage "
                          "node_blocks"},
                     {.name = "threads_per_row",
                      .type = ParameterType::integer,
                      .default_value = std::string("auto"),
                      .minimum = 1,
                      .maximum = 4,
                      .words = {"auto"},
                      .unit = "threads",
                      .help = "threads of a GPU that share a row of blocks, 1, 2 or 4; a slice has the rows of a warp; auto: 1 "
                              "up to "
                              "8 blocks a row in the mean, 2 up to 20, otherwise 4; for blocks of one value, up to 20 and 48"},
                     slots_per_nonzero_parameter(4)},
                .needs = needs,
                .rows_of_share = RowsOfShare::all,
                .predict = predict_block_sell},
               fill)
        .host<BlockSellSlices>("slices", "slices in parallel, row of blocks by row of blocks")
        .cuda<block_sell::WarpsKernel>("warps", "one warp per slice, threads_per_row threads per block row", walk_warps);
}

}  // namespace workbench
