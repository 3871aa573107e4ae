// How a GPU shares out sliced ELL where a recipe leaves it to the program: several warps to rows that are long, several blocks
// to those that are longer still.
#pragma once

#include <vector>

#include "kernels/sell/layout.hpp"

namespace workbench {

/// Neighbouring rows that the lanes of a warp have, one each: a unit. Where slices are higher, one has several of them.
inline constexpr int sell_unit = 32;
inline constexpr int warps_of_sell_block = 8;

/// What a block works on: the same steps of some neighbouring units, each by `warps` warps. Of a unit that has several blocks
/// the sums of the lanes are no results yet: they are stored as part number `part`.
struct SellBlock {
    Index first_unit = 0;
    Index units = 0;
    Index warps = 1;       // of a unit: a power of two; units * warps <= warps_of_sell_block
    Index first_step = 0;  // of a unit that has several blocks
    Index steps = 0;       // its own; 0: all that each unit has
    Index part = -1;
};

/// A unit that has several blocks: its parts are neighbours.
struct SellParts {
    Index unit = 0;
    Index first = 0;
    Index count = 0;
};

struct SellBlocks {
    std::vector<Index> unit_steps;  // [units] the longest row of each
    std::vector<SellBlock> blocks;  // those of units with several blocks first, for they take longest
    std::vector<SellParts> parts;

    [[nodiscard]] Index part_count() const { return parts.empty() ? 0 : parts.back().first + parts.back().count; }
};

/// Of slices of this height whose rows have these lengths. A unit of more than `split_steps` steps has several blocks. Eight
/// others in a row have so many warps each that a warp takes at most `steps_of_warp` steps, and all eight warps of a block
/// where that is not enough.
[[nodiscard]] SellBlocks share_out(const std::vector<Offset>& lengths, Index split_steps, Index steps_of_warp);

/// Of the CUDA kernel; on an H200 the best of what was tried.
inline constexpr Index steps_of_sell_warp = 32;
inline constexpr int sell_entries_in_flight = 4;

/// Views of slices with what the blocks of a launch work on.
template <typename SellView>
struct SellInBlocks : SellView {
    ArrayView<Index> unit_steps;
    ArrayView<SellBlock> blocks;
};

/// A lane a row of a unit. Warp w of those that share the unit takes the steps w, w + warps, ... of it, so that each step is
/// read by one warp, side by side. Height: that of the slices where it is known when this is compiled, otherwise 0.
template <int known_height, int in_flight>
struct SellBlockRows : ScheduleDefaults {
    static constexpr int entries_in_flight = in_flight;
    static constexpr int threads_of_block = warps_of_sell_block * 32;

    static constexpr Offset threads(const auto& sell) { return sell.blocks.size() * threads_of_block; }
    static constexpr auto run(const auto& sell, Offset thread) {
        return run_of(sell, sell.blocks[thread / threads_of_block], static_cast<int>(thread % threads_of_block));
    }
    static constexpr Run<int, Index> run_of(const auto& sell, const SellBlock& block, int thread) {
        const Index warp = thread / 32;
        const Index unit = block.first_unit + warp / block.warps;
        const Offset place = Offset{unit} * sell_unit + thread % 32;
        if (warp >= block.units * block.warps || place >= sell.row_count) return {};
        const auto lane = static_cast<unsigned>(place);  // slices have fewer than 2^32 lanes
        const unsigned height = known_height == 0 ? static_cast<unsigned>(sell.slice_height) : known_height;
        const unsigned slice = lane / height;
        const Offset begin = sell.slice_offsets[slice];
        Index end_step = block.steps > 0 ? block.first_step + block.steps : sell.unit_steps[unit];
        if (known_height == 0 && height % sell_unit != 0) {  // a slice may end within the unit, and have fewer steps than that
            end_step = smaller(end_step, static_cast<Index>((sell.slice_offsets[slice + 1] - begin) / height));
        }
        const Index first_step = block.first_step + warp % block.warps;
        const Index steps = end_step - first_step;
        const auto stride = static_cast<int>(height);
        return {static_cast<Index>(place), begin + Offset{first_step} * stride + lane % height,
                steps <= 0 ? 0 : (steps + block.warps - 1) / block.warps, stride * block.warps};
    }

private:
    static constexpr Index smaller(Index a, Index b) { return a < b ? a : b; }
};

/// Calls use(schedule) with the one for slices of this height.
template <int in_flight>
auto with_sell_block_rows(Index height, const auto& use) {
    return height == sell_unit ? use(SellBlockRows<sell_unit, in_flight>{}) : use(SellBlockRows<0, in_flight>{});
}

}  // namespace workbench
