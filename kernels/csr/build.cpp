#include "kernels/common/entry/format.hpp"
#include "kernels/common/storage/literature_sizes.hpp"
#include "kernels/csr/layout.hpp"

namespace workbench {
namespace {

constexpr auto fill = [](auto& layout, const StagedMatrix& staged, const Parameters&) {
    layout.row_offsets = staged.matrix.row_offsets;
    make_copy(layout.column_indices, staged.matrix.column_indices);
    make_copy(layout.values, staged.matrix.values);
};

}  // namespace

LayoutEntry csr_entry() {
    return format<CsrLayout>({.summary = "compressed sparse rows: the nonzeros row by row",
                              .source = "Tinney and Walker, 'Direct solutions of sparse network equations by optimally ordered "
                                        "triangular factorization' (1967)",
                              .schedules = csr_tile_schedules(),
                              .storage_sizes = csr_storage_sizes},
                             fill)
        .host<CompressedRows<1>>("rows", "rows in parallel, in chunks to the next idle thread")
        .with(csr_eigen_kernels())
        .with_cuda<csr_adaptive_kernels>()
        .with_cuda<csr_merge_kernels>()
        .cuda<CsrVector>("vector", "2 to 32 threads per row, by the mean row length")
        .cuda<CompressedRows<1>>("scalar", "one thread per row")
        .with_cuda<csr_cusparse_kernels>();
}

}  // namespace workbench
