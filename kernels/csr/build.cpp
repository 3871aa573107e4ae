#include "kernels/common/entry/format.hpp"
#include "kernels/common/storage/literature_sizes.hpp"
#include "kernels/common/storage/predicted.hpp"
#include "kernels/csr/adaptive.hpp"
#include "kernels/csr/layout.hpp"
#include "kernels/csr/merge_path.hpp"

namespace workbench {
namespace {

constexpr auto fill = [](auto& layout, const StagedMatrix& staged, const Parameters&) {
    layout.row_offsets = staged.matrix.row_offsets;
    make_copy(layout.column_indices, staged.matrix.column_indices);
    make_copy(layout.values, staged.matrix.values);
};

template <typename Shape>
void walk_tile(const auto& csr, const RowTile& tile, Offset number, const auto& visit) {
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

constexpr auto walk_tiles = [](const auto& layout, const auto& visit) {
    const auto& csr = layout.stored();
    with_tile_shape(csr, [&]<typename Shape>(Shape) {
        Offset number = 0;
        for (const RowTile& tile : cut_into_tiles(csr.row_offsets, Shape::capacity).tiles) {
            walk_tile<Shape>(csr, tile, number++, visit);
        }
    });
};

constexpr auto walk_merge_path = [](const auto& layout, const auto& visit) {
    const auto& csr = layout.stored();
    const MergeShares<Merge> shares{csr.row_count, layout.nonzeros()};
    const auto first_nonzero = [&](Offset share) {
        return shares.begin(share) - shares.first_row(csr.row_offsets.data() + 1, share);
    };
    for (Offset share = 0; share < shares.count(); ++share) {
        walk_side_by_side<Merge>(csr, share, first_nonzero(share), first_nonzero(share + 1), visit);
    }
};

LayoutCost predict_csr(const PatternForecast& pattern, const Parameters&, Precision precision) {
    const Offset nonzeros = pattern.nonzeros();
    const std::int64_t bytes = (Offset{pattern.rows()} + 1) * offset_bytes + nonzeros * (index_bytes + value_bytes(precision));
    return cost_of_arrays(pattern, precision, nonzeros, bytes, 0.92);
}

}  // namespace

LayoutEntry csr_entry() {
    return format<CsrLayout>({.summary = "compressed sparse rows: the nonzeros row by row",
                              .source = "Tinney and Walker, 'Direct solutions of sparse network equations by optimally ordered "
                                        "triangular factorization' (1967)",
                              .storage_sizes = csr_storage_sizes,
                              .predict = predict_csr},
                             fill)
        .host<CompressedRows<1>>("rows", "rows in parallel, in chunks to the next idle thread")
        .with(csr_eigen_kernels())
        .cuda<CsrAdaptive>(
            "adaptive",
            "tiles of neighbouring rows, a warp each, through shared memory; long rows by a warp, a block or several",
            walk_tiles)
        .cuda<csr_merge::SharesKernel>(
            "merge", "equal shares of row ends and nonzeros (merge path), a block each; first a search for where they begin",
            walk_merge_path)
        .cuda<CsrVector>("vector", "2 to 32 threads per row, by the mean row length")
        .cuda<CompressedRows<1>>("scalar", "one thread per row")
        .with_cuda<csr_cusparse_kernels>();
}

}  // namespace workbench
