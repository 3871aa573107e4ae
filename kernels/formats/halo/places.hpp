// Visits the blocks of a part on the host, for the builder, the walk over the slots and the Kokkos kernel.
#pragma once

#include "kernels/formats/halo/layout.hpp"

namespace workbench {

/// The block of a lane in one step.
struct PlacedBlock {
    Index warp = 0;   // of the part; far steps are dealt in turn
    Offset step = 0;  // of all parts, or of all far steps
    int lane = 0;
    bool is_pair = false;
    bool is_far = false;
    Index row_node = -1;  // -1: padding
    Index column_node = -1;
    Index row_place = -1;
    Index column_place = -1;  // of a far block: none
};

/// The node of a place of a part; -1: the place does not exist.
[[nodiscard]] Index halo_node_of(const auto& halo, const HaloPart& part, Index place) {
    if (place < 0 || place >= part.places()) return -1;
    return place < part.cached ? part.first_node + place : halo.halo_nodes[part.first_halo + place - part.cached];
}

/// Calls visit(block) for every lane of every step of a part, padding too, step by step; then for those of its far steps.
void for_each_halo_block(const auto& halo, Index number, const auto& visit) {
    const HaloPart part = halo_part(halo, number);
    PlacedBlock block;
    const auto place = [&](std::uint16_t row, Index column_place, Index column_node) {
        const bool is_there = row != no_place && column_node >= 0;
        block.row_place = is_there ? row : -1;
        block.row_node = is_there ? part.first_node + row : -1;
        block.column_place = is_there ? column_place : -1;
        block.column_node = is_there ? column_node : -1;
        visit(block);
    };
    for (block.warp = 0; block.warp < halo.warps; ++block.warp) {
        const Offset warp = Offset{number} * halo.warps + block.warp;
        for (Index segment = halo.warp_segments[warp]; segment < halo.warp_segments[warp + 1]; ++segment) {
            block.is_pair = segment < halo.rest_segments[warp];
            for (block.step = halo.segment_steps[segment]; block.step < halo.segment_steps[segment + 1]; ++block.step) {
                for (block.lane = 0; block.lane < halo_lanes; ++block.lane) {
                    const std::uint16_t column = halo.column_places[block.step * halo_lanes + block.lane];
                    place(halo.segment_rows[Offset{segment} * halo_lanes + block.lane], column,
                          halo_node_of(halo, part, column));
                }
            }
        }
    }
    block.is_pair = false;
    block.is_far = true;
    for (block.step = halo.far_steps[number]; block.step < halo.far_steps[number + 1]; ++block.step) {
        block.warp = static_cast<Index>((block.step - halo.far_steps[number]) % halo.warps);
        for (block.lane = 0; block.lane < halo_lanes; ++block.lane) {
            const Offset lane = block.step * halo_lanes + block.lane;
            place(halo.far_rows[lane], -1, halo.far_columns[lane]);
        }
    }
}

}  // namespace workbench
