// Which thread of the kernels with loops of their own reads what: the tiles of adaptive.cu and the shares of merge.cu.
#include "kernels/common/schedule/walk.hpp"
#include "kernels/common/storage/offsets.hpp"
#include "kernels/csr/adaptive.hpp"
#include "kernels/csr/layout.hpp"
#include "kernels/csr/merge_path.hpp"

namespace workbench {
namespace {

using Visit = std::function<void(const Read&)>;

template <ValueType Value, typename Shape>
void walk_tiles(const Layout<Value>& layout, const Visit& visit) {
    const auto& csr = dynamic_cast<const CsrLayout<Value>&>(layout).stored();
    const int values = array_number(csr, csr.values);
    const std::vector<RowTile> tiles = cut_into_tiles(csr.row_offsets, Shape::capacity).tiles;
    for (std::size_t number = 0; number < tiles.size(); ++number) {
        const RowTile tile = tiles[number];
        const Offset end = tile.first + tile.nonzeros;
        Offset round = aligned_down(tile.first);
        for (std::int64_t step = 0; round < end; round += Shape::capacity) {
            for (int load = 0; load < Shape::loads; ++load) {
                for (int i = 0; i < Shape::width; ++i, ++step) {
                    for (int lane = 0; lane < 32; ++lane) {
                        const Offset nonzero = round + Shape::place(load, lane) + i;
                        if (nonzero < tile.first || nonzero >= end) continue;
                        visit({.warp = static_cast<std::int64_t>(number),
                               .lane = lane,
                               .step = step,
                               .array = values,
                               .index = nonzero,
                               .row = piece_with(csr.row_offsets, nonzero),
                               .column = csr.column_indices[nonzero]});
                    }
                }
            }
        }
    }
}

template <ValueType Value, typename Shape>
void walk_shares(const Layout<Value>& layout, const Visit& visit) {
    const auto& csr = dynamic_cast<const CsrLayout<Value>&>(layout).stored();
    const int values = array_number(csr, csr.values);
    const Offset all_steps = csr.row_count + layout.nonzeros();
    const auto first_nonzero = [&](Offset steps) {
        return steps - merge_path_search(csr.row_offsets.data() + 1, csr.row_count, steps);
    };
    for (Offset steps = 0; steps < all_steps; steps += Shape::steps) {
        const Offset begin = first_nonzero(steps);
        const Offset end = first_nonzero(std::min(steps + Shape::steps, all_steps));
        for (int k = 0; k < Shape::steps_per_thread; ++k) {
            for (int thread = 0; thread < Shape::threads && begin + Shape::place(k, thread) < end; ++thread) {
                const Offset nonzero = begin + Shape::place(k, thread);
                visit({.warp = (steps / Shape::steps * Shape::threads + thread) / 32,
                       .lane = thread % 32,
                       .step = k,
                       .array = values,
                       .index = nonzero,
                       .row = piece_with(csr.row_offsets, nonzero),
                       .column = csr.column_indices[nonzero]});
            }
        }
    }
}

template <typename Shape>
ScheduleEntry tiles(std::string kernel) {
    return {std::move(kernel), {walk_tiles<float, Shape>, walk_tiles<double, Shape>}};
}

template <typename Shape>
ScheduleEntry shares(std::string kernel) {
    return {std::move(kernel), {walk_shares<float, Shape>, walk_shares<double, Shape>}};
}

}  // namespace

std::vector<ScheduleEntry> csr_tile_schedules() {
    return {tiles<AdaptiveA>("adaptive_a"), tiles<AdaptiveB>("adaptive_b"), tiles<AdaptiveC>("adaptive_c"),
            tiles<AdaptiveD>("adaptive_d"), shares<MergeA>("merge_a"),      shares<MergeB>("merge_b"),
            shares<MergeC>("merge_c")};
}

}  // namespace workbench
