#include "kernels/common/drawn_matrix.hpp"
#include "kernels/common/value_range.hpp"
#include "kernels/jds/layout.hpp"

namespace workbench {
namespace {

constexpr std::string_view drawing = R"(
after row_sort with apply = "rows": the rows 0 1 4 3 2 5 of the matrix, longest first

diagonal_offsets   0 6 10 13

                   diagonal 0      diagonal 1   diagonal 2
values             1 4 10 8 7 13 | 2 5 11 9   | 3 6 12
columns            0 1 0 3 2 5   | 1 2 4 5    | 2 4 5
)";

template <ValueType Value>
std::unique_ptr<Layout<Value>> build(const StagedMatrix& staged, const Parameters&) {
    const CsrMatrix& matrix = staged.matrix;
    require_values_in_range<Value>(matrix);
    auto layout = std::make_unique<JdsLayout<Value>>();
    layout->row_count = matrix.rows;
    layout->column_count = matrix.columns;
    layout->nonzero_count = matrix.nonzeros();
    layout->jagged = build_jagged<Value, Index>(matrix, {{.rows = ShareView(matrix), .columns = {0, matrix.columns}}});
    return layout;
}

}  // namespace

template <ValueType Value>
std::vector<LayoutArray> JdsLayout<Value>::arrays() const {
    return {layout_array("diagonal_offsets", ArrayRole::structure, jagged.diagonal_offsets),
            layout_array("columns", ArrayRole::column, jagged.columns),
            layout_array("values", ArrayRole::value, jagged.values)};
}

template <ValueType Value>
void JdsLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    const JaggedFrame frame{.value_array = 2,
                            .column_array = 1,
                            .columns =
                                [&](Index) {
                                    return ColumnRange{0, column_count};
                                },
                            .row = [](Index, Offset place) { return static_cast<Index>(place); }};
    workbench::for_each_slot(jagged, frame, visit);
}

template struct JdsLayout<float>;
template struct JdsLayout<double>;

LayoutEntry jds_entry() {
    LayoutEntry entry{
        .name = "jds",
        .summary = "jagged diagonals: of rows in descending length the first entries, then the second ones, without padding",
        .source = "Saad, 'Krylov subspace methods on supercomputers' (1989)",
        .drawing = std::string(drawn_matrix).append(drawing),
        .parameters = {},
        .needs = [](const Parameters&) { return Needs{.unsplit = true}; },
        .build = {build<float>, build<double>},
        .kernels = jds_reference_kernels(),
    };
    if constexpr (WORKBENCH_HAS_CUDA) entry.add(jds_cuda_kernels());
    return entry;
}

}  // namespace workbench
