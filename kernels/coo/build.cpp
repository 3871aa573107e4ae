#include "kernels/common/drawn_matrix.hpp"
#include "kernels/common/value_range.hpp"
#include "kernels/coo/layout.hpp"
#include "kernels/coo/storage_size.hpp"

namespace workbench {
namespace {

constexpr std::string_view drawing = R"(
rows       0 0 0 1 1 1 2 3 3 4 4 4 5
columns    0 1 2 1 2 4 2 3 5 0 4 5 5
values     1 2 3 4 5 6 7 8 9 10 11 12 13
)";

template <ValueType Value>
std::unique_ptr<Layout<Value>> build(const StagedMatrix& staged, const Parameters&) {
    const CsrMatrix& matrix = staged.matrix;
    require_values_in_range<Value>(matrix);
    auto layout = std::make_unique<CooLayout<Value>>();
    layout->row_count = matrix.rows;
    layout->column_count = matrix.columns;
    layout->triplets = build_triplets<Value>(matrix, ShareView(matrix));
    return layout;
}

}  // namespace

template <ValueType Value>
std::vector<LayoutArray> CooLayout<Value>::arrays() const {
    return {layout_array("rows", ArrayRole::structure, triplets.rows),
            layout_array("columns", ArrayRole::column, triplets.columns),
            layout_array("values", ArrayRole::value, triplets.values)};
}

template <ValueType Value>
void CooLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    workbench::for_each_slot(triplets, TripletFrame{.value_array = 2, .column_array = 1}, visit);
}

template struct CooLayout<float>;
template struct CooLayout<double>;

LayoutEntry coo_entry() {
    LayoutEntry entry{
        .name = "coo",
        .summary = "coordinate list: a row, a column and a value for each nonzero, row by row",
        .source =
            "Bell and Garland, 'Implementing sparse matrix-vector multiplication on throughput-oriented processors' (2009)",
        .drawing = std::string(drawn_matrix).append(drawing),
        .parameters = {},
        .needs = [](const Parameters&) { return Needs{.unsplit = true}; },
        .build = {build<float>, build<double>},
        .storage_sizes = coo_storage_sizes,
        .kernels = coo_reference_kernels(),
    };
    if constexpr (WORKBENCH_HAS_CUDA) entry.add(coo_cuda_kernels());
    return entry;
}

}  // namespace workbench
