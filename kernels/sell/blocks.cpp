#include "kernels/sell/blocks.hpp"

#include <algorithm>

namespace workbench {
namespace {

/// Cuts a unit into parts of `split_steps` steps, each for a whole block.
void cut(SellBlocks& blocks, Index unit, Index split_steps) {
    const Index steps = blocks.unit_steps[unit];
    SellParts parts{unit, blocks.part_count(), 0};
    for (Index first = 0; first < steps; first += split_steps) {
        blocks.blocks.push_back(
            {unit, 1, warps_of_sell_block, first, std::min(split_steps, steps - first), parts.first + parts.count++});
    }
    blocks.parts.push_back(parts);
}

}  // namespace

SellBlocks share_out(const std::vector<Offset>& lengths, Index split_steps, Index steps_of_warp) {
    SellBlocks all;
    const auto rows = static_cast<Offset>(lengths.size());
    const auto units = static_cast<Index>((rows + sell_unit - 1) / sell_unit);
    all.unit_steps.assign(units, 0);
    for (Index unit = 0; unit < units; ++unit) {
        const auto begin = lengths.begin() + Offset{unit} * sell_unit;
        const auto end = lengths.begin() + std::min<Offset>(rows, Offset{unit + 1} * sell_unit);
        all.unit_steps[unit] = static_cast<Index>(*std::max_element(begin, end));
    }
    std::vector<Index> long_units;
    for (Index unit = 0; unit < units; ++unit) {
        if (all.unit_steps[unit] > split_steps) long_units.push_back(unit);
    }
    std::stable_sort(long_units.begin(), long_units.end(),
                     [&](Index a, Index b) { return all.unit_steps[a] > all.unit_steps[b]; });
    for (const Index unit : long_units) cut(all, unit, split_steps);
    for (Index first = 0; first < units;) {
        if (all.unit_steps[first] > split_steps) {
            ++first;
            continue;
        }
        Index end = first;
        Index longest = 0;
        while (end < units && end - first < warps_of_sell_block && all.unit_steps[end] <= split_steps) {
            longest = std::max(longest, all.unit_steps[end++]);
        }
        Index warps = 1;
        while (warps < warps_of_sell_block && longest > warps * steps_of_warp) warps *= 2;
        for (; first < end; first += warps_of_sell_block / warps) {
            all.blocks.push_back({first, std::min(warps_of_sell_block / warps, end - first), warps});
        }
        first = end;
    }
    return all;
}

}  // namespace workbench
