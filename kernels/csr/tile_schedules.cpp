// Which thread of the kernels with loops of their own reads what: the tiles of adaptive.cu and the shares of merge.cu.
#include "kernels/common/schedule/walk.hpp"
#include "kernels/common/storage/offsets.hpp"
#include "kernels/csr/adaptive.hpp"
#include "kernels/csr/layout.hpp"
#include "kernels/csr/merge_path.hpp"

namespace workbench {
namespace {

using Visit = std::function<void(const Read&)>;

template <typename Shape>
void walk_tiles(const auto& csr, const Visit& visit) {
    const int values = array_number(csr, csr.values);
    const HostArray<RowTile> tiles = cut_into_tiles(csr.row_offsets, Shape::capacity).tiles;
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

template <ValueType Value>
void walk_tiles_of(const Layout<Value>& layout, const Visit& visit) {
    const auto& csr = dynamic_cast<const CsrLayout<Value>&>(layout).stored();
    with_tile_shape(csr, [&]<typename Shape>(Shape) { walk_tiles<Shape>(csr, visit); });
}

template <ValueType Value>
void walk_shares(const Layout<Value>& layout, const Visit& visit) {
    const auto& csr = dynamic_cast<const CsrLayout<Value>&>(layout).stored();
    const int values = array_number(csr, csr.values);
    const MergeShares<Merge> shares{csr.row_count, layout.nonzeros()};
    const auto first_nonzero = [&](Offset share) {
        return shares.begin(share) - shares.first_row(csr.row_offsets.data() + 1, share);
    };
    for (Offset share = 0; share < shares.count(); ++share) {
        const Offset begin = first_nonzero(share);
        const Offset end = first_nonzero(share + 1);
        for (int k = 0; k < Merge::steps_per_thread; ++k) {
            for (int thread = 0; thread < Merge::threads && begin + Merge::place(k, thread) < end; ++thread) {
                const Offset nonzero = begin + Merge::place(k, thread);
                visit({.warp = (share * Merge::threads + thread) / 32,
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

}  // namespace

std::vector<ScheduleEntry> csr_tile_schedules() {
    return {{"adaptive", {walk_tiles_of<float>, walk_tiles_of<double>}}, {"merge", {walk_shares<float>, walk_shares<double>}}};
}

}  // namespace workbench
