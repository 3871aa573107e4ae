#include "kernels/common/refusal/value_range.hpp"
#include "kernels/common/schedule/host_rows.hpp"
#include "kernels/csr/layout.hpp"
#include "kernels/csr/storage_size.hpp"
#include "pipeline/matrix/host_array.hpp"

namespace workbench {
namespace {

template <ValueType Value>
std::unique_ptr<Layout<Value>> build(const StagedMatrix& staged, const Parameters&) {
    const CsrMatrix& matrix = staged.matrix;
    require_values_in_range<Value>(matrix);
    auto layout = std::make_unique<CsrLayout<Value>>();
    layout->nonzero_count = matrix.nonzeros();
    layout->row_count = matrix.rows;
    layout->column_count = matrix.columns;
    layout->row_offsets = matrix.row_offsets;
    make_copy(layout->column_indices, matrix.column_indices);
    make_copy(layout->values, matrix.values);
    return layout;
}

}  // namespace

template <ValueType Value>
void CsrLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    for_each_compressed_slot<CompressedRows<1>>(this->stored(), visit);
}

LayoutEntry csr_entry() {
    LayoutEntry entry{
        .name = "csr",
        .summary = "compressed sparse rows: the nonzeros row by row",
        .source =
            "Tinney and Walker, 'Direct solutions of sparse network equations by optimally ordered triangular factorization' "
            "(1967)",
        .parameters = {},
        .needs = [](const Parameters&) { return Needs{.unsplit = true}; },
        .build = {build<float>, build<double>},
        .empty = empty_layouts_of<CsrLayout>(),
        .fields = field_lists_of<CsrLayout>(),
        .schedules = csr_tile_schedules(),
        .storage_sizes = csr_storage_sizes,
        .kernels = {host_rows<CsrLayout, CompressedRows<1>>("rows",
                                                            "rows in parallel, some at a time to the next idle thread")},
    };
    entry.schedules.push_back(schedule_of<CsrLayout, CsrVector>("vector"));
    entry.schedules.push_back(schedule_of<CsrLayout, CompressedRows<1>>("scalar"));
    entry.add(csr_eigen_kernels());
    if constexpr (WORKBENCH_HAS_CUDA) {
        entry.add(csr_adaptive_kernels());
        entry.add(csr_merge_kernels());
        entry.add(csr_cuda_kernels());
        entry.add(csr_cusparse_kernels());
    }
    return entry;
}

}  // namespace workbench
