// The reads of the kernels with loops of their own: the tiles of adaptive.cuh and the shares of merge.cuh.
#include "kernels/csr/adaptive.hpp"
#include "kernels/csr/layout.hpp"
#include "kernels/csr/merge_path.hpp"

namespace workbench {
namespace {

using Visit = std::function<void(const Read&)>;

template <typename Shape>
void walk_tile(const auto& csr, const RowTile& tile, Offset number, const Visit& visit) {
    const int array = array_number(csr, csr.values);
    const Offset end = tile.first + tile.nonzeros;
    std::int64_t step = 0;
    for (Offset round = aligned_down(tile.first); round < end; round += Shape::capacity) {
        for (int load = 0; load < Shape::loads; ++load) {
            for (int i = 0; i < Shape::width; ++i, ++step) {
                for (int lane = 0; lane < 32; ++lane) {
                    const Offset nonzero = round + Shape::place(load, lane) + i;
                    if (nonzero < tile.first || nonzero >= end) continue;
                    visit(read_of_nonzero(csr, array, nonzero, 32 * number + lane, step));
                }
            }
        }
    }
}

template <ValueType Value>
void walk_tiles(const Layout<Value>& layout, const Visit& visit) {
    const auto& csr = dynamic_cast<const CsrLayout<Value>&>(layout).stored();
    with_tile_shape(csr, [&]<typename Shape>(Shape) {
        Offset number = 0;
        for (const RowTile& tile : cut_into_tiles(csr.row_offsets, Shape::capacity).tiles) {
            walk_tile<Shape>(csr, tile, number++, visit);
        }
    });
}

template <ValueType Value>
void walk_shares(const Layout<Value>& layout, const Visit& visit) {
    const auto& csr = dynamic_cast<const CsrLayout<Value>&>(layout).stored();
    const MergeShares<Merge> shares{csr.row_count, layout.nonzeros()};
    const auto first_nonzero = [&](Offset share) {
        return shares.begin(share) - shares.first_row(csr.row_offsets.data() + 1, share);
    };
    for (Offset share = 0; share < shares.count(); ++share) {
        walk_side_by_side<Merge>(csr, share, first_nonzero(share), first_nonzero(share + 1), visit);
    }
}

}  // namespace

std::vector<ScheduleEntry> csr_tile_schedules() {
    return {{"adaptive", {walk_tiles<float>, walk_tiles<double>}}, {"merge", {walk_shares<float>, walk_shares<double>}}};
}

}  // namespace workbench
