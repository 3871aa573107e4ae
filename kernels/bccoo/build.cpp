#include <fmt/format.h>

#include <bit>
#include <limits>
#include <numeric>

#include "kernels/bccoo/layout.hpp"
#include "kernels/common/refusal/slot_bound.hpp"
#include "kernels/common/refusal/value_range.hpp"
#include "kernels/common/storage/block_rows.hpp"
#include "kernels/device/host_loops.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/matrix/host_array.hpp"

namespace workbench {
namespace {

// Iterations that a thread of the host takes at a time.
constexpr int block_row_chunk = 64;
constexpr int tile_chunk = 16;

constexpr std::string_view example = R"(
[layout]
use = "bccoo"
block_height = 2
block_width = 2
blocks_per_lane = 4
slots_per_nonzero = 50
)";

struct BlockList {
    HostArray<Offset> offsets;  // [block rows of the matrix + 1] first block of each
    HostArray<Index> columns;   // [blocks] block columns
};

BlockList find_blocks(const CsrView<double>& matrix, const BlockSize& size) {
    const Index block_rows = block_count_of(matrix.rows, size.height);
    BlockList list;
    list.offsets.assign(std::size_t(block_rows) + 1, 0);
    for_each_in_parallel(block_rows, block_row_chunk, [&](std::int64_t block_row) {
        Offset blocks = 0;
        walk_block_row(
            matrix, size, static_cast<Index>(block_row), [&](Index) { ++blocks; }, [](Index, Offset) {});
        list.offsets[block_row + 1] = blocks;
    });
    std::partial_sum(list.offsets.begin(), list.offsets.end(), list.offsets.begin());
    make_zeros(list.columns, list.offsets.back());
    for_each_in_parallel(block_rows, block_row_chunk, [&](std::int64_t block_row) {
        Offset next = list.offsets[block_row];
        walk_block_row(
            matrix, size, static_cast<Index>(block_row), [&](Index column) { list.columns[next++] = column; },
            [](Index, Offset) {});
    });
    return list;
}

/// Stores the ends of block rows, and the one that each tile begins with.
void store_rows(auto& bccoo, const BlockList& blocks) {
    const auto block_rows = static_cast<Index>(blocks.offsets.size() - 1);
    HostArray<Index> with_blocks;
    for (Index block_row = 0; block_row < block_rows; ++block_row) {
        const Offset end = blocks.offsets[block_row + 1];
        if (end == blocks.offsets[block_row]) {
            bccoo.empty_block_rows.push_back(block_row);
            continue;
        }
        // The tiles that begin in this block row.
        const Offset tile_size = bccoo.blocks_of_tile();
        const Offset tiles = (end + tile_size - 1) / tile_size;
        bccoo.first_block_rows.resize(tiles, static_cast<Index>(with_blocks.size()));
        with_blocks.push_back(block_row);
        bccoo.ends.resize(tiles * bccoo_lanes, 0);
        const Offset last = end - 1;
        bccoo.ends[last / bccoo.blocks_per_lane] |= static_cast<std::uint16_t>(1U << last % bccoo.blocks_per_lane);
    }
    if (!bccoo.empty_block_rows.empty()) bccoo.block_rows = std::move(with_blocks);
}

void store_columns(auto& bccoo, const BlockList& blocks, bool narrow) {
    const Offset tiles = bccoo.tiles();
    const int run = bccoo.blocks_per_lane;
    const auto last = static_cast<Offset>(blocks.columns.size()) - 1;
    const auto column = [&](Offset lane, int k) { return blocks.columns[std::min(lane * run + k, last)]; };
    const auto step = [&](Offset lane, int k) { return Offset{column(lane, k)} - column(lane, k - 1); };
    const auto fits = [](Offset number) { return static_cast<Offset>(static_cast<std::int16_t>(number)) == number; };
    std::vector<char> is_narrow(tiles, narrow ? 1 : 0);
    bccoo.first_columns.resize(tiles * bccoo_lanes);
    for_each_in_parallel(tiles, tile_chunk, [&](std::int64_t tile) {
        for (Offset lane = tile * bccoo_lanes; lane < (tile + 1) * bccoo_lanes; ++lane) {
            bccoo.first_columns[lane] = column(lane, 0);
            for (int k = 1; k < run; ++k) is_narrow[tile] = is_narrow[tile] != 0 && fits(step(lane, k)) ? 1 : 0;
        }
    });
    Index narrow_tiles = 0;
    Index wide_tiles = 0;
    for (const char one : is_narrow) bccoo.column_tiles.push_back(one != 0 ? narrow_tiles++ : -1 - wide_tiles++);
    make_zeros(bccoo.column_steps, Offset{narrow_tiles} * (run - 1) * bccoo_lanes);
    make_zeros(bccoo.wide_columns, Offset{wide_tiles} * (run - 1) * bccoo_lanes);
    for_each_in_parallel(tiles, tile_chunk, [&](std::int64_t tile) {
        const Index column_tile = bccoo.column_tiles[tile];
        for (int lane = 0; lane < bccoo_lanes; ++lane) {
            for (int k = 1; k < run; ++k) {
                const Offset place = bccoo_column_place(column_tile, run, k, lane);
                if (column_tile < 0) {
                    bccoo.wide_columns[place] = column(tile * bccoo_lanes + lane, k);
                } else {
                    bccoo.column_steps[place] = static_cast<std::int16_t>(step(tile * bccoo_lanes + lane, k));
                }
            }
        }
    });
}

template <ValueType Value>
void store_values(BccooLayout<Value>& bccoo, const CsrView<double>& matrix, const BlockList& blocks) {
    const BlockSize size{bccoo.block_height, bccoo.block_width};
    const int run = bccoo.blocks_per_lane;
    const int run_bits = std::countr_zero(static_cast<unsigned>(run));  // a power of two: a shift is faster than a division
    make_zeros(bccoo.values, bccoo.tiles() * bccoo.blocks_of_tile() * bccoo.area());
    for_each_in_parallel(static_cast<std::int64_t>(blocks.offsets.size()) - 1, block_row_chunk, [&](std::int64_t block_row) {
        Offset block = blocks.offsets[block_row] - 1;
        const auto store = [&](Index r, Offset position) {
            const Index c = matrix.column_indices[position] - blocks.columns[block] * size.width;
            const Offset lane = block >> run_bits;
            const Offset slot = bccoo_slot(lane / bccoo_lanes, run, bccoo.area(), static_cast<int>(block & (run - 1)),
                                           static_cast<int>(lane % bccoo_lanes));
            bccoo.values[slot + (r * size.width + c) * bccoo_lanes] = static_cast<Value>(matrix.values[position]);
        };
        walk_block_row(
            matrix, size, static_cast<Index>(block_row), [&](Index) { ++block; }, store);
    });
}

Index blocks_per_lane(const Parameters& parameters, Index area) {
    if (parameters.is_word("blocks_per_lane", "auto")) return area <= 2 ? 16 : 4;
    return static_cast<Index>(parameters.integer("blocks_per_lane"));
}

template <ValueType Value>
std::unique_ptr<Layout<Value>> build(const StagedMatrix& staged, const Parameters& parameters) {
    const CsrMatrix& matrix = staged.matrix;
    require_values_in_range<Value>(matrix);
    const CsrView<double> view{matrix.rows, matrix.columns, matrix.row_offsets, matrix.column_indices, matrix.values};
    auto layout = std::make_unique<BccooLayout<Value>>();
    layout->row_count = matrix.rows;
    layout->column_count = matrix.columns;
    layout->nonzero_count = matrix.nonzeros();
    layout->block_height = static_cast<Index>(parameters.integer("block_height"));
    layout->block_width = static_cast<Index>(parameters.integer("block_width"));
    layout->blocks_per_lane = blocks_per_lane(parameters, layout->area());
    const BlockList blocks = find_blocks(view, {layout->block_height, layout->block_width});
    layout->block_count = blocks.offsets.back();
    require_bounded_slots(fmt::format("{} blocks of {} x {}", layout->block_count, layout->block_height, layout->block_width),
                          static_cast<double>(layout->block_count) * layout->area(), matrix.nonzeros(), sizeof(Value),
                          {parameters.real("slots_per_nonzero"),
                           "smaller blocks (block_height, block_width) have fewer, and slots_per_nonzero allows more"});
    store_rows(*layout, blocks);
    store_columns(*layout, blocks, parameters.is_word("column_index", "u16"));
    store_values(*layout, view, blocks);
    layout->pattern = Pattern(matrix);
    return layout;
}

Needs needs(const Parameters& parameters) {
    const Index blocks = blocks_per_lane(parameters, 1);
    if (blocks != 4 && blocks != 8 && blocks != 16) throw ParameterError("blocks_per_lane", "a lane has 4, 8 or 16 blocks");
    return Needs{.unsplit = true};
}

std::vector<ParameterDeclaration> parameters() {
    return {
        {.name = "block_height",
         .default_value = std::int64_t{1},
         .minimum = 1,
         .maximum = largest_bccoo_block,
         .unit = "rows",
         .help = "rows of a block"},
        {.name = "block_width",
         .default_value = std::int64_t{1},
         .minimum = 1,
         .maximum = largest_bccoo_block,
         .unit = "columns",
         .help = "columns of a block"},
        {.name = "blocks_per_lane",
         .type = ParameterType::integer,
         .default_value = std::string("auto"),
         .minimum = 4,
         .maximum = most_blocks_of_lane,
         .words = {"auto"},
         .unit = "blocks",
         .help = "neighbouring blocks that a thread takes: 4, 8 or 16; auto: 16 if a block has one or two values, otherwise 4"},
        {.name = "column_index",
         .type = ParameterType::choice,
         .default_value = std::string("u16"),
         .words = {"u16", "u32"},
         .help = "u16: differences of columns, if all of a warp fit; u32: columns of 32 bits throughout"},
        slots_per_nonzero_parameter(4)};
}

}  // namespace

LayoutEntry bccoo_entry() {
    LayoutEntry entry{
        .name = "bccoo",
        .summary =
            "blocks as a coordinate list, with one bit a block for the ends of block rows and differences of columns in 16 "
            "bits",
        .source = "Yan, Li, Zhang and Zhou, 'yaSpMV: yet another SpMV framework on GPUs' (PPoPP 2014)",
        .examples = {std::string(example)},
        .parameters = parameters(),
        .needs = needs,
        .rows_of_share = RowsOfShare::all,
        .build = {build<float>, build<double>},
        .empty = empty_layouts_of<BccooLayout>(),
        .fields = field_lists_of<BccooLayout>(),
        .schedules = bccoo_schedules(),
        .kernels = {bccoo_host_kernel()},
    };
    if constexpr (WORKBENCH_HAS_CUDA) entry.add(bccoo_cuda_kernels());
    return entry;
}

}  // namespace workbench
