// The nonzero of each slot, and the thread of the CUDA kernel that reads it.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "kernels/bccoo/layout.hpp"
#include "kernels/common/storage/block_rows.hpp"

namespace workbench {
namespace {

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
                bccoo.column_tiles.size() == tiles && bccoo.values.size() == tiles * blocks_of_tile * bccoo.area(),
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

/// visit(slot, tile, block, e) for each slot, in the order of the matrix.
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
            visit(slot, block, e);
        }
    });
}

template <ValueType Value>
void walk_tiles(const Layout<Value>& layout, const std::function<void(const Read&)>& visit) {
    const auto& bccoo = dynamic_cast<const BccooLayout<Value>&>(layout).stored();
    for (Offset tile = 0; tile < bccoo.tiles(); ++tile) {
        for_each_slot_of_tile(bccoo, tile, [&](const Slot& slot, const BccooBlock& block, Index e) {
            visit({.warp = tile,
                   .lane = block.lane,
                   .step = block.k * bccoo.area() + e,
                   .array = slot.array,
                   .index = slot.index,
                   .row = slot.row,
                   .column = slot.column});
        });
    }
}

}  // namespace

template <ValueType Value>
void BccooLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    require_sound_structure(this->stored(), block_count);
    PatternWalk walk(pattern);
    const Offset slots_of_tile = this->blocks_of_tile() * this->area();
    std::vector<Slot> slots(slots_of_tile);
    for (Offset tile = 0; tile < this->tiles(); ++tile) {
        for_each_slot_of_tile(this->stored(), tile, [&](const Slot& slot, const BccooBlock&, Index) {
            slots[slot.index - tile * slots_of_tile] = slot;
            slots[slot.index - tile * slots_of_tile].nonzero = walk.nonzero_at(slot.row, slot.column);
        });
        for (const Slot& slot : slots) visit(slot);
    }
}

std::vector<ScheduleEntry> bccoo_schedules() { return {{"lanes", {walk_tiles<float>, walk_tiles<double>}}}; }

template struct BccooLayout<float>;
template struct BccooLayout<double>;

}  // namespace workbench
