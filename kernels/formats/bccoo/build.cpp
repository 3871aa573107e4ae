#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <stdexcept>

#include "core/matrix/block_rows.hpp"
#include "kernels/common/entry/format.hpp"
#include "kernels/common/refusal/refusals.hpp"
#include "kernels/common/storage/encode_values.hpp"
#include "kernels/common/storage/predicted.hpp"
#include "kernels/device/tuned.hpp"
#include "kernels/formats/bccoo/layout.hpp"

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

BlockList find_blocks(const CsrOnHost<double>& matrix, const BlockSize& size) {
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
void store_values(Bccoo<Value, HostArray>& bccoo, const CsrOnHost<double>& matrix, const BlockList& blocks) {
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
    if (parameters.is_word("blocks_per_lane", "auto")) return tuned::bccoo_blocks_per_lane(area);
    return static_cast<Index>(parameters.integer("blocks_per_lane"));
}

constexpr auto fill = []<ValueType Value>(BccooLayout<Value>& layout, const StagedMatrix& staged,
                                          const Parameters& parameters) {
    const CsrMatrix& matrix = staged.matrix;
    const CsrOnHost<double> view{matrix.rows, matrix.columns, matrix.row_offsets, matrix.column_indices, matrix.values};
    const auto height = static_cast<Index>(parameters.integer("block_height"));
    const auto width = static_cast<Index>(parameters.integer("block_width"));
    const BlockList blocks = find_blocks(view, {height, width});
    layout.block_count = blocks.offsets.back();
    require_bounded_slots(fmt::format("{} blocks of {} x {}", layout.block_count, height, width),
                          static_cast<double>(layout.block_count) * height * width, matrix.nonzeros(), sizeof(Value),
                          {parameters.real("slots_per_nonzero"),
                           "smaller blocks (block_height, block_width) have fewer, and slots_per_nonzero allows more"});
    if (codes_values(parameters)) layout.stored.template emplace<Bccoo<Constant<Value>, HostArray>>();  // settled to "one"
    const auto store = [&](auto& bccoo) {
        bccoo.row_count = matrix.rows;
        bccoo.column_count = matrix.columns;
        bccoo.block_height = height;
        bccoo.block_width = width;
        bccoo.blocks_per_lane = blocks_per_lane(parameters, height * width);
        store_rows(bccoo, blocks);
        store_columns(bccoo, blocks, parameters.is_word("column_index", "u16"));
        if constexpr (ConstantMember<std::remove_cvref_t<decltype(bccoo.values)>>) {
            bccoo.values = {only_value<Value>(matrix), bccoo.tiles() * bccoo.blocks_of_tile()};
        } else {
            store_values(bccoo, view, blocks);
        }
    };
    std::visit(store, layout.stored);
    layout.pattern = Pattern(matrix);
};

/// Tiles in parallel: each writes the block rows that end in it and keeps its sums of the one that continues in the next tile,
/// which are added when all tiles are done. So no two threads write a row.
template <ValueType Value, typename Stored>
class BccooTiles final : public Kernel<Value> {
    using Sums = std::array<Value, largest_bccoo_block>;

public:
    explicit BccooTiles(const Stored& bccoo) : bccoo_(bccoo), open_(bccoo.tiles()) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        for_each_in_parallel(static_cast<std::int64_t>(bccoo_.empty_block_rows.size()), 1024, [&](std::int64_t i) {
            for_each_row(bccoo_.empty_block_rows[i], [&](Index row, Index) { put(y, row, Value{0}, accumulate); });
        });
        with_bccoo_block(bccoo_, [&](auto height, auto width) {
            for_each_in_parallel(bccoo_.tiles(), 16, [&](std::int64_t tile) {
                open_[tile] = multiply_tile<height, width>(tile, x, y, accumulate);
            });
        });
        // The last tile leaves nothing open.
        for (Offset tile = 0; tile + 1 < bccoo_.tiles(); ++tile) {
            for_each_row(bccoo_.block_row(bccoo_.first_block_rows[tile + 1]),
                         [&](Index row, Index r) { y[row] += open_[tile][r]; });
        }
    }

private:
    /// Returns the sums of the block row that continues in the next tile.
    template <int height, int width>
    [[nodiscard]] Sums multiply_tile(Offset tile, const Value* x, Value* y, bool accumulate) const {
        Sums sums{};
        for_each_block_of_tile(bccoo_, tile, [&](const BccooBlock& block) {
            const Offset first_slot = bccoo_slot(tile, bccoo_.blocks_per_lane, height * width, block.k, block.lane);
            const Index first_column = block.column * width;
            for (int c = 0; c < width && first_column + c < bccoo_.column_count; ++c) {
                for (int r = 0; r < height; ++r) {
                    sums[r] += bccoo_.values[first_slot + (r * width + c) * bccoo_lanes] * x[first_column + c];
                }
            }
            if (!block.is_end) return;
            for_each_row(bccoo_.block_row(block.counted_row), [&](Index row, Index r) { put(y, row, sums[r], accumulate); });
            sums = {};
        });
        return sums;
    }

    /// Calls body(row, its number in the block row) for the rows within the matrix.
    void for_each_row(Index block_row, const auto& body) const {
        const Offset first = Offset{block_row} * bccoo_.block_height;
        for (Index r = 0; r < bccoo_.block_height && first + r < bccoo_.row_count; ++r) body(static_cast<Index>(first + r), r);
    }

    const Stored& bccoo_;
    std::vector<Sums> open_;  // [tiles]
};

template <ValueType Value>
struct BccooHost {
    static std::unique_ptr<Kernel<Value>> prepare(const BccooLayout<Value>& layout, Device&) {
        return with_stored(layout, [&]<typename Stored>(const Stored& stored) -> std::unique_ptr<Kernel<Value>> {
            return std::make_unique<BccooTiles<Value, Stored>>(stored);
        });
    }
};

bool has_larger_blocks(const Parameters& parameters) {
    return parameters.integer("block_height") * parameters.integer("block_width") > 1;
}

Parameters settle(const Parameters& parameters, const ValueFacts& facts) {
    if (parameters.is_word("values", "auto") && has_larger_blocks(parameters))
        return parameters.with("values", std::string("full"));
    return settle_equal_values(parameters, facts);
}

Needs needs(const Parameters& parameters) {
    const Index blocks = blocks_per_lane(parameters, 1);
    if (blocks != 4 && blocks != 8 && blocks != 16) throw ParameterError("blocks_per_lane", "a lane has 4, 8 or 16 blocks");
    if (parameters.is_word("values", "one") && has_larger_blocks(parameters)) {
        throw ParameterError("values", "equal values require blocks of 1 x 1, because larger ones may have padding");
    }
    return Needs{.unsplit = true};
}

std::vector<ParameterDeclaration> parameters() {
    return {integer_parameter("block_height", by_default(1), between(1, largest_bccoo_block, "rows"), "rows of a block"),
            integer_parameter("block_width", by_default(1), between(1, largest_bccoo_block, "columns"), "columns of a block"),
            integer_parameter(
                "blocks_per_lane", by_default("auto"), between(4, most_blocks_of_lane, "blocks", {"auto"}),
                "neighbouring blocks that a thread takes: 4, 8 or 16; auto: 16 if a block has up to 4 values, 8 up to 9, "
                "otherwise 4"),
            choice_parameter("column_index", by_default("u16"), {"u16", "u32"},
                             "u16: differences of columns, if all of a warp fit; u32: columns of 32 bits throughout"),
            values_parameter({"full", "one", "auto"}),
            slots_per_nonzero_parameter(4)};
}

void require(bool condition, std::string_view what) {
    if (!condition) throw std::logic_error(fmt::format("bccoo: {}", what));
}

/// The lists of block rows with and without blocks contain each block row once.
void require_each_block_row_once(const auto& bccoo, Index counted) {
    const Index block_rows = block_count_of(bccoo.row_count, bccoo.block_height);
    require(bccoo.block_rows.empty() == bccoo.empty_block_rows.empty() || counted == 0, "a list of block rows is missing");
    require(counted + static_cast<Offset>(bccoo.empty_block_rows.size()) == block_rows,
            "not as many block rows end as there are");
    if (bccoo.empty_block_rows.empty()) return;
    require(static_cast<Index>(bccoo.block_rows.size()) == counted, "a block row with blocks is not listed");
    HostArray<Index> all(block_rows);
    std::merge(bccoo.block_rows.begin(), bccoo.block_rows.end(), bccoo.empty_block_rows.begin(), bccoo.empty_block_rows.end(),
               all.begin());
    HostArray<Index> expected(block_rows);
    std::iota(expected.begin(), expected.end(), 0);
    require(all == expected, "a block row is listed twice, or not at all");
}

void require_sizes(const auto& bccoo, Offset block_count) {
    const auto tiles = static_cast<std::size_t>(bccoo.tiles());
    const auto blocks_of_tile = static_cast<std::size_t>(bccoo.blocks_of_tile());
    require((block_count + bccoo.blocks_of_tile() - 1) / bccoo.blocks_of_tile() == bccoo.tiles(),
            "not as many tiles as blocks need");
    require(bccoo.ends.size() == tiles * bccoo_lanes && bccoo.first_columns.size() == tiles * bccoo_lanes &&
                bccoo.column_tiles.size() == tiles &&
                static_cast<std::size_t>(bccoo.values.size()) == tiles * blocks_of_tile * bccoo.area(),
            "arrays are not as long as the tiles need");
    Index narrow = 0;
    Index wide = 0;
    for (const Index tile : bccoo.column_tiles) {
        require(tile == narrow || tile == -1 - wide, "column_tiles does not go through the columns in turn");
        tile < 0 ? ++wide : ++narrow;
    }
    const std::size_t columns_of_tile = std::size_t{bccoo_lanes} * (bccoo.blocks_per_lane - 1);
    require(bccoo.column_steps.size() == narrow * columns_of_tile && bccoo.wide_columns.size() == wide * columns_of_tile,
            "there are not as many columns as blocks");
}

void require_sound_structure(const auto& bccoo, Offset block_count) {
    require_sizes(bccoo, block_count);
    const Index block_columns = block_count_of(bccoo.column_count, bccoo.block_width);
    Offset number = 0;
    Index counted = 0;
    Index last_column = 0;
    for (Offset tile = 0; tile < bccoo.tiles(); ++tile) {
        require(bccoo.first_block_rows[tile] == counted, "a tile does not begin in the block row where the one before ends");
        for_each_block_of_tile(bccoo, tile, [&](const BccooBlock& block) {
            require(block.column >= 0 && block.column < block_columns, "a block begins outside the matrix");
            if (number < block_count) {
                last_column = block.column;
            } else {
                require(!block.is_end && block.column == last_column, "padding ends a block row, or has a column of its own");
            }
            ++number;
            counted += block.is_end ? 1 : 0;
        });
    }
    const auto fits = [&](std::uint16_t word) { return word >> bccoo.blocks_per_lane == 0; };
    require(std::all_of(bccoo.ends.begin(), bccoo.ends.end(), fits), "there are bits for more blocks than a lane has");
    require_each_block_row_once(bccoo, counted);
}

/// Calls visit(slot, block, e) for each slot, in the order of the matrix.
template <typename Bccoo>
void for_each_slot_of_tile(const Bccoo& bccoo, Offset tile, const auto& visit) {
    const int values = array_number(bccoo, bccoo.values);
    const int first_columns = array_number(bccoo, bccoo.first_columns);
    const int others = array_number(bccoo, bccoo.wide_columns);
    const int steps = array_number(bccoo, bccoo.column_steps);
    const int run = bccoo.blocks_per_lane;
    const Offset counted_rows =
        block_count_of(bccoo.row_count, bccoo.block_height) - static_cast<Offset>(bccoo.empty_block_rows.size());
    const Index column_tile = bccoo.column_tiles[tile];
    for_each_block_of_tile(bccoo, tile, [&](const BccooBlock& block) {
        const bool is_first = block.k == 0;
        Slot slot{.array = values,
                  .column_array = is_first          ? first_columns
                                  : column_tile < 0 ? others
                                                    : steps,
                  .column_index =
                      is_first ? tile * bccoo_lanes + block.lane : bccoo_column_place(column_tile, run, block.k, block.lane)};
        const Offset first_slot = bccoo_slot(tile, run, bccoo.area(), block.k, block.lane);
        for (Index e = 0; e < bccoo.area(); ++e) {
            const Offset column = Offset{block.column} * bccoo.block_width + e % bccoo.block_width;
            const Offset row = block.counted_row < counted_rows
                                   ? Offset{bccoo.block_row(block.counted_row)} * bccoo.block_height + e / bccoo.block_width
                                   : bccoo.row_count;
            slot.index = first_slot + e * bccoo_lanes;
            slot.column = column < bccoo.column_count ? static_cast<Index>(column) : -1;
            slot.row = row < bccoo.row_count ? static_cast<Index>(row) : -1;
            if (ConstantMember<std::remove_cvref_t<decltype(bccoo.values)>> && slot.row < 0) slot.column = -1;
            visit(slot, block, e);
        }
    });
}

void visit_reads(const auto& bccoo, const std::function<void(const Read&)>& visit) {
    for (Offset tile = 0; tile < bccoo.tiles(); ++tile) {
        for_each_slot_of_tile(bccoo, tile, [&](const Slot& slot, const BccooBlock& block, Index e) {
            visit(read_of(slot, tile * bccoo_lanes + block.lane, block.k * bccoo.area() + e));
        });
    }
}

constexpr auto walk_tiles = [](const auto& layout, const auto& visit) {
    with_stored(layout, [&](const auto& bccoo) { visit_reads(structure_of(bccoo), visit); });
};

void visit_slots(const auto& bccoo, Offset block_count, const Pattern& pattern, const std::function<void(const Slot&)>& visit) {
    require_sound_structure(bccoo, block_count);
    PatternWalk walk(pattern);
    const Offset slots_of_tile = bccoo.blocks_of_tile() * bccoo.area();
    std::vector<Slot> slots(slots_of_tile);
    for (Offset tile = 0; tile < bccoo.tiles(); ++tile) {
        for_each_slot_of_tile(bccoo, tile, [&](const Slot& slot, const BccooBlock&, Index) {
            slots[slot.index - tile * slots_of_tile] = slot;
            slots[slot.index - tile * slots_of_tile].nonzero = walk.nonzero_at(slot.row, slot.column);
        });
        for (const Slot& slot : slots) visit(slot);
    }
}

LayoutCost predict_bccoo(const PatternForecast& pattern, const Parameters& parameters, Precision precision) {
    const auto height = static_cast<Index>(parameters.integer("block_height"));
    const auto width = static_cast<Index>(parameters.integer("block_width"));
    const Index run = blocks_per_lane(parameters, height * width);
    const Offset blocks = pattern.blocks(height, width);
    const Offset tiles = pieces_of(blocks, Offset{bccoo_lanes} * run);
    const Offset slots = tiles * bccoo_lanes * run * height * width;
    const std::int64_t column_bytes = parameters.is_word("column_index", "u16") ? short_bytes : index_bytes;
    const std::int64_t bytes = tiles * (2 * index_bytes + bccoo_lanes * (short_bytes + index_bytes)) +
                               tiles * bccoo_lanes * (run - 1) * column_bytes + slots * bytes_of_values(parameters, precision);
    LayoutCost cost = cost_of_arrays(pattern, precision, slots, bytes, 0.96);
    cost.exact = false;  // tiles with long steps between columns are wider
    refuse_slots(cost, parameters, pattern.nonzeros());
    return cost;
}

}  // namespace

template <ValueType Value>
void BccooLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    with_stored(*this, [&](const auto& bccoo) { visit_slots(structure_of(bccoo), block_count, pattern, visit); });
}

LayoutEntry bccoo_entry() {
    return format<BccooLayout>({.summary = "blocks as a coordinate list, with one bit per block for the ends of block rows and "
                                           "differences of columns in 16 bits",
                                .source = "Yan, Li, Zhang and Zhou, 'yaSpMV: yet another SpMV framework on GPUs' (PPoPP 2014)",
                                .examples = {std::string(example)},
                                .parameters = parameters(),
                                .needs = needs,
                                .rows_of_share = RowsOfShare::all,
                                .settle = settle,
                                .predict = predict_bccoo},
                               fill)
        .host<BccooHost>("tiles", "tiles of blocks in parallel, then the block rows that cross tiles")
        .cuda<bccoo::Lanes>("lanes", "one lane per run of blocks; segmented sums complete the rows that cross lanes",
                            walk_tiles);
}

template struct BccooLayout<float>;
template struct BccooLayout<double>;

}  // namespace workbench
