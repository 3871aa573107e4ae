#include <fmt/format.h>

#include "kernels/common/drawn_matrix.hpp"
#include "kernels/common/refusal/value_range.hpp"
#include "kernels/common/schedule/host_rows.hpp"
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
    static_cast<Slices<Value, Index, HostArray>&>(*layout) = build_slices<Value, Index>(matrix, ShareView(matrix), plan);
    layout->origin = Origin(ShareView(matrix));
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
void SellLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    require_sound_offsets(*this);
    for_each_stored_slot<SellRows<1, 0>>(this->stored(), origin, visit);
}

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
        .fields = field_lists_of<SellLayout>(),
        .schedules = {schedule_of<SellLayout, SellThreads>("slices")},
        .storage_sizes = sell_storage_sizes,
        .kernels = {host_rows<SellLayout, SellRow>("slices", "slices in parallel, the rows of a slice side by side")},
    };
    if constexpr (WORKBENCH_HAS_CUDA) {
        entry.add(sell_cuda_kernels());
        entry.add(sell_cusparse_kernels());
    }
    return entry;
}

}  // namespace workbench
