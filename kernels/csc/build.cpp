#include <algorithm>
#include <stdexcept>

#include "kernels/common/drawn_matrix.hpp"
#include "kernels/common/lanes.hpp"
#include "kernels/common/offsets.hpp"
#include "kernels/common/value_range.hpp"
#include "kernels/csc/layout.hpp"
#include "kernels/csc/storage_size.hpp"

namespace workbench {
namespace {

constexpr std::string_view drawing = R"(
column_offsets   0 2 4 7 8 10 13

                 column 0 | column 1 | column 2 | column 3 | column 4 | column 5
row_indices      0 4      | 0 1      | 0 1 2    | 3        | 1 4      | 3 4 5
values           1 10     | 2 4      | 3 5 7    | 8        | 6 11     | 9 12 13
)";

template <ValueType Value>
std::unique_ptr<Layout<Value>> build(const StagedMatrix& staged, const Parameters&) {
    const CsrMatrix& matrix = staged.matrix;
    require_values_in_range<Value>(matrix);
    CsrMatrix by_columns = transpose(matrix);
    auto layout = std::make_unique<CscLayout<Value>>();
    layout->row_count = matrix.rows;
    layout->column_count = matrix.columns;
    layout->column_offsets = std::move(by_columns.row_offsets);
    layout->row_indices = std::move(by_columns.column_indices);
    layout->values.assign(by_columns.values.begin(), by_columns.values.end());
    layout->row_offsets = matrix.row_offsets;
    return layout;
}

template <ValueType Value>
void require_sound_arrays(const CscLayout<Value>& layout) {
    const auto in_range = [&](Index row) { return row >= 0 && row < layout.row_count; };
    const bool sound = tiles(layout.column_offsets, layout.values.size()) &&
                       std::all_of(layout.row_indices.begin(), layout.row_indices.end(), in_range);
    if (!sound) throw std::logic_error("csc: the column offsets do not tile the arrays, or a row does not exist");
}

}  // namespace

template <ValueType Value>
std::vector<LayoutArray> CscLayout<Value>::arrays() const {
    return {layout_array("column_offsets", ArrayRole::structure, column_offsets),
            layout_array("row_indices", ArrayRole::structure, row_indices), layout_array("values", ArrayRole::value, values)};
}

/// Walks the rows of the transposed matrix. The columns of a row ascend, so that a walk by columns meets the nonzeros of each
/// row in their order.
template <ValueType Value>
void CscLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    require_sound_arrays(*this);
    std::vector<Offset> next(row_offsets.begin(), row_offsets.end() - 1);
    const int lanes = lanes_for(column_count, nonzeros());
    walk_rows(column_count, column_offsets, lanes, {.array = 2, .column_array = -1}, [&](Slot slot) {
        slot.column = slot.row;
        slot.row = row_indices[slot.index];
        if (next[slot.row] == row_offsets[slot.row + 1]) throw std::logic_error("csc: a row has too many nonzeros");
        slot.nonzero = next[slot.row]++;
        visit(slot);
    });
}

template struct CscLayout<float>;
template struct CscLayout<double>;

LayoutEntry csc_entry() {
    LayoutEntry entry{
        .name = "csc",
        .summary = "compressed sparse columns: the nonzeros column by column, so that x is read once",
        .source = "Wikberg, 'Unstructured mesh FVM with GPU' (2025), section 4.2.3",
        .drawing = std::string(drawn_matrix).append(drawing),
        .parameters = {},
        .needs = [](const Parameters&) { return Needs{.unsplit = true}; },
        .build = {build<float>, build<double>},
        .storage_sizes = csc_storage_sizes,
        .kernels = csc_reference_kernels(),
    };
    if constexpr (WORKBENCH_HAS_CUDA) entry.add(csc_cuda_kernels());
    return entry;
}

}  // namespace workbench
