#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "core/matrix/block_rows.hpp"
#include "kernels/common/schedule/walk.hpp"
#include "kernels/formats/halo/places.hpp"

namespace workbench {
namespace {

void require(bool condition, std::string_view what) {
    if (!condition) throw std::logic_error(fmt::format("halo: {}", what));
}

void require_offsets(std::span<const Index> offsets, std::size_t pieces, std::size_t end, std::string_view what) {
    require(offsets.size() == pieces + 1 && offsets.front() == 0 && std::cmp_equal(offsets.back(), end) &&
                std::is_sorted(offsets.begin(), offsets.end()),
            fmt::format("{} does not tile its array", what));
}

void require_diagonal(const auto& halo) {
    if (!halo.has_diagonal()) return require(halo.diagonal.empty(), "a diagonal section without its groups");
    require(halo.row_count == halo.column_count, "a diagonal section of a matrix that is not square");
    require_offsets(halo.diagonal_groups, halo.parts(), halo.diagonal.size() / halo_lanes / halo.triangle(), "diagonal_groups");
    require(halo.diagonal.size() % (halo_lanes * halo.triangle()) == 0, "the diagonal ends within a group");
    for (Index part = 0; part < halo.parts(); ++part) {
        require(halo.diagonal_groups[part + 1] - halo.diagonal_groups[part] ==
                    block_count_of(halo_part(halo, part).own, halo_lanes),
                "a part has not as many groups of the diagonal as its nodes need");
    }
}

/// The steps of a part are dealt to its warps in equal shares, pairs first.
void require_equal_shares(const auto& halo, Index part) {
    const Offset first = Offset{part} * halo.warps;
    const auto step_of = [&](Index segment) { return Offset{halo.segment_steps[segment]}; };
    const Offset first_step = step_of(halo.warp_segments[first]);
    const Offset steps = step_of(halo.warp_segments[first + halo.warps]) - first_step;
    Offset pairs = 0;
    for (Index warp = 0; warp < halo.warps; ++warp) {
        const Index segment = halo.warp_segments[first + warp];
        const Index rest = halo.rest_segments[first + warp];
        require(rest >= segment && rest <= halo.warp_segments[first + warp + 1], "a warp's rest begins outside the warp");
        pairs += step_of(rest) - step_of(segment);
    }
    Offset before = 0;
    for (Index warp = 0; warp < halo.warps; ++warp) {
        require(step_of(halo.warp_segments[first + warp + 1]) - first_step == halo_steps_until(steps, warp, halo.warps),
                "steps are not distributed evenly");
        before += step_of(halo.rest_segments[first + warp]) - step_of(halo.warp_segments[first + warp]);
        require(before == halo_pairs_until(pairs, steps, warp, halo.warps), "pairs are not distributed evenly");
    }
}

/// A lane has a row if it has a block in a segment's first step, and mirrors only within its part.
void require_places(const auto& halo, Index part) {
    const HaloPart place = halo_part(halo, part);
    for (Offset warp = Offset{part} * halo.warps; warp < (Offset{part} + 1) * halo.warps; ++warp) {
        for (Index segment = halo.warp_segments[warp]; segment < halo.warp_segments[warp + 1]; ++segment) {
            const Index columns = segment < halo.rest_segments[warp] ? place.cached : place.places();
            require(halo.segment_steps[segment] < halo.segment_steps[segment + 1], "a segment without steps");
            for (int lane = 0; lane < halo_lanes; ++lane) {
                const std::uint16_t row = halo.segment_rows[Offset{segment} * halo_lanes + lane];
                require(row == no_place || row < place.own, "a lane's row is outside its part");
                bool is_there = row != no_place;
                for (Offset step = halo.segment_steps[segment]; step < halo.segment_steps[segment + 1]; ++step) {
                    const std::uint16_t column = halo.column_places[step * halo_lanes + lane];
                    require(column == no_place || column < columns, "a block's column has no place");
                    require(is_there || column == no_place, "a block behind padding, or without a row");
                    if (step == halo.segment_steps[segment]) require(is_there == (column != no_place), "a row without a block");
                    is_there = column != no_place;
                }
            }
        }
    }
    const Index column_nodes = block_count_of(halo.column_count, halo.block_size);
    std::pair<Index, Index> before{-1, -1};
    for (Offset i = Offset{halo.far_steps[part]} * halo_lanes; i < Offset{halo.far_steps[part + 1]} * halo_lanes; ++i) {
        const std::pair<Index, Index> block{halo.far_rows[i], halo.far_columns[i]};
        if (block.first == no_place) {
            require(block.second == 0, "padding with a column of its own");
        } else {
            require(block.first < place.own && block.second >= 0 && block.second < column_nodes,
                    "a far block's row or column does not exist");
            require(before < block, "far blocks are not in order");
        }
        before = block;
    }
}

/// Throws std::logic_error if the arrays contradict each other.
void require_sound_halo(const auto& halo) {
    require(halo.block_size >= 1 && halo.block_size <= largest_halo_block && halo.warps >= 1,
            "a block size or a number of warps that no layout has");
    require(!halo.part_nodes.empty(), "no parts");
    const auto parts = static_cast<std::size_t>(halo.parts());
    const std::size_t warps = parts * halo.warps;
    const std::size_t segments = halo.segment_rows.size() / halo_lanes;
    const std::size_t steps = halo.column_places.size() / halo_lanes;
    const std::size_t far_steps = halo.far_rows.size() / halo_lanes;
    require_offsets(halo.part_nodes, parts, block_count_of(halo.row_count, halo.block_size), "part_nodes");
    require_offsets(halo.halo_offsets, parts, halo.halo_nodes.size(), "halo_offsets");
    require_offsets(halo.warp_steps, warps, steps, "warp_steps");
    require_offsets(halo.warp_segments, warps, segments, "warp_segments");
    require_offsets(halo.segment_steps, segments, steps, "segment_steps");
    for (std::size_t warp = 0; warp < warps; ++warp) {
        require(halo.warp_steps[warp] == halo.segment_steps[halo.warp_segments[warp]],
                "a warp's first step differs from that of its segments");
    }
    require_offsets(halo.far_steps, parts, far_steps, "far_steps");
    require(halo.rest_segments.size() == warps && halo.segment_rows.size() == segments * halo_lanes &&
                halo.column_places.size() == steps * halo_lanes &&
                halo.values.size() == halo.column_places.size() * halo.area() &&
                halo.far_rows.size() == far_steps * halo_lanes && halo.far_columns.size() == halo.far_rows.size() &&
                halo.far_values.size() == halo.far_rows.size() * halo.area(),
            "arrays are not as long as the steps need");
    const Index column_nodes = block_count_of(halo.column_count, halo.block_size);
    for (const Index node : halo.halo_nodes) require(node >= 0 && node < column_nodes, "a node that does not exist in a halo");
    require_diagonal(halo);
    for (Index part = 0; part < halo.parts(); ++part) {
        require(halo_part(halo, part).own <= most_halo_places && halo_part(halo, part).places() <= most_halo_places,
                "a part has more places than 16 bits tell apart");
        require_equal_shares(halo, part);
        require_places(halo, part);
    }
}

/// Completes the slots of a block.
struct SlotOfBlock {
    const Pattern& pattern;
    Index rows;
    Index columns;
    Index block_size;

    /// r, c: row and column within the block.
    void complete(Slot& slot, Index row_node, Index column_node, Index r, Index c) const {
        const Offset row = Offset{row_node} * block_size + r;
        const Offset column = Offset{column_node} * block_size + c;
        slot.row = row_node >= 0 && row < rows ? static_cast<Index>(row) : -1;
        slot.column = column_node >= 0 && column < columns ? static_cast<Index>(column) : -1;
        slot.nonzero = -1;
        if (slot.row < 0 || slot.column < 0) return;
        const auto begin = pattern.columns.begin() + pattern.row_offsets[row];
        const auto end = pattern.columns.begin() + pattern.row_offsets[row + 1];
        const auto found = std::lower_bound(begin, end, slot.column);
        if (found != end && *found == slot.column) slot.nonzero = found - pattern.columns.begin();
    }
};

/// Visits the slot, and once more for the nonzero whose mirror it also stores.
void visit_with_mirror(Slot slot, bool has_mirror, const SlotOfBlock& of_block, const std::function<void(const Slot&)>& visit) {
    visit(slot);
    if (!has_mirror || slot.nonzero < 0) return;
    std::swap(slot.row, slot.column);
    of_block.complete(slot, slot.row / of_block.block_size, slot.column / of_block.block_size, slot.row % of_block.block_size,
                      slot.column % of_block.block_size);
    visit(slot);
}

/// Calls visit(slot, has_mirror, node, lane) for each slot of the diagonal, in the order of memory. node: its number in the
/// part; -1: padding.
void for_each_diagonal_slot(const auto& halo, Index part, const SlotOfBlock& of_block, const auto& visit) {
    if (!halo.has_diagonal()) return;
    const HaloPart place = halo_part(halo, part);
    Slot slot{.array = array_number(halo, halo.diagonal), .column_array = -1};
    for (Index group = halo.diagonal_groups[part]; group < halo.diagonal_groups[part + 1]; ++group) {
        slot.index = halo_slot(group, halo.triangle(), 0);
        const Index in_part = group - halo.diagonal_groups[part];
        for (Index r = 0; r < halo.block_size; ++r) {
            for (Index c = r; c < halo.block_size; ++c) {
                for (int lane = 0; lane < halo_lanes; ++lane, ++slot.index) {
                    const Index i = in_part * halo_lanes + lane;
                    const Index node = i < place.own ? place.first_node + i : -1;
                    of_block.complete(slot, node, node, r, c);
                    visit(slot, r != c, i < place.own ? i : -1, lane);
                }
            }
        }
    }
}

/// Calls visit(slot, block) for each slot of a part's steps and far steps, block by block, in the order in which a lane reads
/// them: far blocks column by column.
template <typename Stored>
void for_each_slot_of_blocks(const Stored& halo, Index part, const SlotOfBlock& of_block, const auto& visit) {
    const int values = array_number(halo, halo.values);
    const int columns = array_number(halo, halo.column_places);
    const int far_values = array_number(halo, halo.far_values);
    const int far_columns = array_number(halo, halo.far_columns);
    for_each_halo_block(halo, part, [&](const PlacedBlock& block) {
        Slot slot{.array = block.is_far ? far_values : values,
                  .column_array = block.is_far ? far_columns : columns,
                  .column_index = block.step * halo_lanes + block.lane};
        for (int i = 0; i < halo.area(); ++i) {
            const int e = block.is_far ? i % halo.block_size * halo.block_size + i / halo.block_size : i;
            slot.index = halo_slot(block.step, halo.area(), block.lane) + Offset{e} * halo_lanes;
            of_block.complete(slot, block.row_node, block.column_node, e / halo.block_size, e % halo.block_size);
            visit(slot, block);
        }
    });
}

SlotOfBlock slot_of_block(const auto& halo, const Pattern& pattern) {
    return {pattern, halo.row_count, halo.column_count, halo.block_size};
}

void visit_reads(const auto& halo, const Pattern& pattern, const std::function<void(const Read&)>& visit) {
    const SlotOfBlock of_block = slot_of_block(halo, pattern);
    for (Index part = 0; part < halo.parts(); ++part) {
        HostArray<std::int64_t> steps(std::size_t(halo.warps) * halo_lanes, 0);  // of each thread
        const auto read = [&](const Slot& slot, Index warp, int lane) {
            const Index thread = warp * halo_lanes + lane;
            visit(read_of(slot, Offset{part} * halo.warps * halo_lanes + thread, steps[thread]++));
        };
        for_each_diagonal_slot(halo, part, of_block, [&](const Slot& slot, bool, Index node, int lane) {
            if (node >= 0) read(slot, node / halo_lanes % halo.warps, lane);
        });
        for_each_slot_of_blocks(halo, part, of_block,
                                [&](const Slot& slot, const PlacedBlock& block) { read(slot, block.warp, block.lane); });
    }
}

void visit_slots(const auto& halo, const Pattern& pattern, const std::function<void(const Slot&)>& visit) {
    require_sound_halo(halo);
    const SlotOfBlock of_block = slot_of_block(halo, pattern);
    const Offset slots_of_step = Offset{halo.area()} * halo_lanes;
    struct Walked {
        Slot slot;
        bool is_pair = false;
    };
    std::vector<Walked> step(slots_of_step);  // its slots in the order of memory
    for (Index part = 0; part < halo.parts(); ++part) {
        for_each_diagonal_slot(halo, part, of_block, [&](const Slot& slot, bool has_mirror, Index, int) {
            visit_with_mirror(slot, has_mirror, of_block, visit);
        });
        Offset walked = 0;
        for_each_slot_of_blocks(halo, part, of_block, [&](const Slot& slot, const PlacedBlock& block) {
            step[slot.index % slots_of_step] = {slot, block.is_pair};
            if (++walked % slots_of_step != 0) return;
            for (const Walked& one : step) visit_with_mirror(one.slot, one.is_pair, of_block, visit);
        });
    }
}

}  // namespace

template <ValueType Value>
void walk_halo(const HaloLayout<Value>& halo, const std::function<void(const Read&)>& visit) {
    visit_reads(structure_of(halo.stored()), halo.pattern, visit);
}

template <ValueType Value>
void HaloLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    visit_slots(structure_of(this->stored()), pattern, visit);
}

template void HaloLayout<float>::for_each_slot(const std::function<void(const Slot&)>&) const;
template void HaloLayout<double>::for_each_slot(const std::function<void(const Slot&)>&) const;
template void walk_halo(const HaloLayout<float>&, const std::function<void(const Read&)>&);
template void walk_halo(const HaloLayout<double>&, const std::function<void(const Read&)>&);

}  // namespace workbench
