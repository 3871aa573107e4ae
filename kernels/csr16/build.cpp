#include <fmt/format.h>

#include "kernels/common/refusal/value_range.hpp"
#include "kernels/common/schedule/host_rows.hpp"
#include "kernels/csr16/layout.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/matrix/host_array.hpp"

namespace workbench {
namespace {

/// Throws Unsuitable where a row is too wide, with the figure and what may help.
void require_narrow_rows(const CsrMatrix& matrix) {
    constexpr Index most = 1 << 16;
    for (Index row = 0; row < matrix.rows; ++row) {
        const auto columns = matrix.row_columns(row);
        if (columns.empty() || columns.back() - columns.front() < most) continue;
        throw Unsuitable(
            fmt::format("row {} reaches over {} columns, but columns of 16 bits reach {}: an order of less bandwidth "
                        "(cuthill_mckee) may bring them together",
                        row, Offset{columns.back()} - columns.front() + 1, most));
    }
}

template <ValueType Value>
std::unique_ptr<Layout<Value>> build(const StagedMatrix& staged, const Parameters&) {
    const CsrMatrix& matrix = staged.matrix;
    require_values_in_range<Value>(matrix);
    require_narrow_rows(matrix);
    auto layout = std::make_unique<Csr16Layout<Value>>();
    layout->nonzero_count = matrix.nonzeros();
    layout->row_count = matrix.rows;
    layout->column_count = matrix.columns;
    layout->row_offsets = matrix.row_offsets;
    layout->first_columns.resize(matrix.rows);
    make_room(layout->columns_from_first, matrix.nonzeros());
    make_copy(layout->values, matrix.values);
    for_each_in_parallel(matrix.rows, 64, [&](std::int64_t row) {
        const auto columns = matrix.row_columns(static_cast<Index>(row));
        if (columns.empty()) return;
        layout->first_columns[row] = columns.front();
        for (std::size_t k = 0; k < columns.size(); ++k) {
            layout->columns_from_first[matrix.row_offsets[row] + k] = static_cast<std::uint16_t>(columns[k] - columns.front());
        }
    });
    return layout;
}

}  // namespace

template <ValueType Value>
void Csr16Layout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    for_each_compressed_slot<Csr16Rows<1>>(this->stored(), visit);
}

LayoutEntry csr16_entry() {
    LayoutEntry entry{
        .name = "csr16",
        .summary = "CSR with columns of 16 bits, counted from the first nonzero of their row",
        .source = "docs/new_format.md, which walks through it",
        .parameters = {},
        .needs = [](const Parameters&) { return Needs{.unsplit = true}; },
        .build = {build<float>, build<double>},
        .empty = empty_layouts_of<Csr16Layout>(),
        .fields = field_lists_of<Csr16Layout>(),
        .schedules = {schedule_of<Csr16Layout, Csr16Lanes>("lanes")},
        .kernels = {host_rows<Csr16Layout, Csr16Rows<1>>("rows", "rows in parallel, some at a time to the next idle thread")},
    };
    if constexpr (WORKBENCH_HAS_CUDA) entry.add(csr16_cuda_kernels());
    return entry;
}

}  // namespace workbench
