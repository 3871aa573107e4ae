#include <array>

#include "kernels/common/drawn_matrix.hpp"
#include "kernels/common/value_range.hpp"
#include "kernels/sell/layout.hpp"

namespace workbench {
namespace {

constexpr std::string_view drawing = R"(
with slice_height = 2; a dot is padding: value 0, column 0

slice_offsets   0 6 10 16

                slice 0           slice 1       slice 2
values          1 4 | 2 5 | 3 6   7 8 | . 9     10 13 | 11 . | 12 .
columns         0 1 | 1 2 | 2 4   2 3 | . 5     0 5 | 4 . | 5 .
)";

template <ValueType Value>
std::unique_ptr<Layout<Value>> build(const StagedMatrix& staged, const Parameters& parameters) {
    const CsrMatrix& matrix = staged.matrix;
    require_values_in_range<Value>(matrix);
    const SlicePlan plan{.slice_height = static_cast<Index>(parameters.integer("slice_height")),
                         .group_places = {0, matrix.rows},
                         .column_bounds = {0, matrix.columns}};
    auto layout = std::make_unique<SellLayout<Value>>();
    layout->row_count = matrix.rows;
    layout->column_count = matrix.columns;
    layout->nonzero_count = matrix.nonzeros();
    layout->slices = build_slices<Value, Index>(matrix, PartView(matrix), plan);
    return layout;
}

}  // namespace

template <ValueType Value>
std::vector<LayoutArray> SellLayout<Value>::arrays() const {
    return {layout_array("slice_offsets", ArrayRole::structure, slices.slice_offsets),
            layout_array("columns", ArrayRole::column, slices.columns),
            layout_array("values", ArrayRole::value, slices.values)};
}

template <ValueType Value>
void SellLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    const std::array<Index, 2> column_bounds{0, column_count};
    const SliceFrame frame{
        .value_array = 2, .column_array = 1, .column_bounds = column_bounds, .row = [&](Index, Offset place) {
            return place < row_count ? static_cast<Index>(place) : -1;
        }};
    workbench::for_each_slot(slices, frame, visit);
}

template struct SellLayout<float>;
template struct SellLayout<double>;

LayoutEntry sell_entry() {
    LayoutEntry entry{
        .name = "sell",
        .summary = "sliced ELL: slices of equal height, each padded to its longest row and stored column by column",
        .source =
            "Monakov, Lokhmotov and Avetisyan, 'Automatically tuning sparse matrix-vector multiplication for GPU "
            "architectures' (2010)",
        .drawing = std::string(drawn_matrix).append(drawing),
        .parameters = {{.name = "slice_height",
                        .type = ParameterType::integer,
                        .default_value = std::int64_t{32},
                        .minimum = 1,
                        .maximum = 65536,
                        .unit = "rows",
                        .help = "rows stored together; 32 is a warp"}},
        .needs = [](const Parameters&) { return Needs{.unsplit = true}; },
        .build = {build<float>, build<double>},
        .kernels = sell_reference_kernels(),
    };
    if constexpr (WORKBENCH_HAS_CUDA) {
        const std::vector<KernelEntry> cuda = sell_cuda_kernels();
        entry.kernels.insert(entry.kernels.end(), cuda.begin(), cuda.end());
    }
    return entry;
}

}  // namespace workbench
