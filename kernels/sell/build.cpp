#include <fmt/format.h>

#include <array>

#include "kernels/common/drawn_matrix.hpp"
#include "kernels/common/value_range.hpp"
#include "kernels/sell/layout.hpp"
#include "kernels/sell/storage_size.hpp"

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
    layout->threads_per_row = static_cast<Index>(parameters.integer("threads_per_row"));
    layout->slices = build_slices<Value, Index>(matrix, ShareView(matrix), plan);
    return layout;
}

Needs needs(const Parameters& parameters) {
    const std::int64_t threads = parameters.integer("threads_per_row");
    if ((threads & (threads - 1)) != 0) {
        throw ParameterError("threads_per_row", fmt::format("found {}; expected a power of two", threads));
    }
    return {.unsplit = true};
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
    const SliceFrame frame{.value_array = 2,
                           .column_array = 1,
                           .threads_per_row = threads_per_row,
                           .column_bounds = column_bounds,
                           .row = [&](Index, Offset place) { return place < row_count ? static_cast<Index>(place) : -1; }};
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
                        .help = "rows stored together (the C of SELL-C-sigma); 32 is a warp"},
                       {.name = "threads_per_row",
                        .type = ParameterType::integer,
                        .default_value = std::int64_t{1},
                        .minimum = 1,
                        .maximum = 32,
                        .unit = "threads",
                        .help =
                            "threads of a GPU that share a row, a power of two: 32 / threads_per_row rows are a warp's, and "
                            "with a slice_height of so many it reads neighbouring slots"}},
        .needs = needs,
        .build = {build<float>, build<double>},
        .storage_sizes = sell_storage_sizes,
        .kernels = sell_reference_kernels(),
    };
    if constexpr (WORKBENCH_HAS_CUDA) {
        entry.add(sell_cuda_kernels());
        entry.add(sell_cusparse_kernels());
    }
    return entry;
}

}  // namespace workbench
