#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "kernels/common/storage/literature_sizes.hpp"
#include "kernels/formats/csr/adaptive.hpp"
#include "kernels/formats/csr/layout.hpp"
#include "kernels/formats/csr/merge_path.hpp"
#include "kernels/formats/rows/build.hpp"

namespace workbench {
namespace {

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
    with_stored(layout, [&](const auto& csr) {
        with_tile_shape(csr, [&]<typename Shape>(Shape) {
            Offset number = 0;
            for (const RowTile& tile : cut_into_tiles(csr.row_offsets, Shape::capacity, Shape::limits).tiles) {
                walk_tile<Shape>(csr, tile, number++, visit);
            }
        });
    });
};

constexpr auto walk_merge_path = [](const auto& layout, const auto& visit) {
    with_stored(layout, [&](const auto& csr) {
        const MergeShares shares{csr.row_count, layout.nonzeros(), Merge::size};
        const auto first_nonzero = [&](Offset share) {
            return shares.begin(share) - shares.first_row(csr.row_offsets.data() + 1, share);
        };
        for (Offset share = 0; share < shares.count(); ++share) {
            walk_side_by_side<Merge>(csr, share, first_nonzero(share), first_nonzero(share + 1), visit);
        }
    });
};

constexpr auto compile_merge = []<ValueType Value>(const CsrLayout<Value>& layout, int vectors,
                                                   const std::string& architecture) {
    with_stored(layout, [&]<typename Stored>(const Stored&) {
        (void)compile_instance(merge_instance<InStorage<Stored, ArrayView>, Value>(vectors), architecture);
    });
};

}  // namespace

template <ValueType Value>
const FullCsr<Value>& full_csr(const CsrLayout<Value>& layout, const char* kernel) {
    if (const auto* const csr = std::get_if<coding::full>(&layout.stored)) return *csr;
    throw Unsuitable(fmt::format("{} reads values in full, but they are coded (expected values = \"full\")", kernel));
}
template const FullCsr<float>& full_csr(const CsrLayout<float>&, const char*);
template const FullCsr<double>& full_csr(const CsrLayout<double>&, const char*);

LayoutEntry csr_entry() {
    return preset<CsrLayout, csr_shape>(
               {.name = "csr",
                .summary = "compressed sparse rows: the nonzeros row by row",
                .source = "Tinney and Walker, 'Direct solutions of sparse network equations by optimally ordered "
                          "triangular factorization' (1967)",
                .storage_sizes = csr_storage_sizes,
                .kernel_on_device = "adaptive"})
        .host<CompressedRows<1>>("rows", "rows in parallel, in chunks to the next idle thread")
        .with(csr_eigen_kernels())
        .cuda<CsrAdaptive>(
            "adaptive",
            "tiles of neighbouring rows, a warp each, through shared memory; long rows by a warp, a block or several",
            walk_tiles)
        .cuda<CsrMerge>("merge",
                        "equal shares of row ends and nonzeros (merge path), a block each; first a search for where they begin",
                        walk_merge_path)
        .compiled_for_vectors(compile_merge)
        .cuda<CsrVector>("vector", "2 to 32 threads per row, by the mean row length")
        .cuda<CompressedRows<1>>("scalar", "one thread per row")
        .with_cuda<csr_cusparse_kernels>();
}

}  // namespace workbench
