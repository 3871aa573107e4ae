#include "kernels/common/refusal/slot_bound.hpp"
#include "kernels/common/refusal/value_range.hpp"
#include "kernels/common/schedule/host_rows.hpp"
#include "kernels/ell/layout.hpp"
#include "kernels/ell/storage_size.hpp"

namespace workbench {
namespace {

constexpr std::string_view column_major_example = R"(
[layout]
use = "ell"
)";

constexpr std::string_view row_major_example = R"(
[layout]
use = "ell"
order = "row_major"
)";

template <ValueType Value>
std::unique_ptr<Layout<Value>> build(const StagedMatrix& staged, const Parameters& parameters) {
    const CsrMatrix& matrix = staged.matrix;
    require_values_in_range<Value>(matrix);
    const EllOrder order = parameters.text("order") == "row_major" ? EllOrder::row_major : EllOrder::column_major;
    auto layout = std::make_unique<EllLayout<Value>>();
    static_cast<Ell<Value, HostArray>&>(*layout) =
        build_ell<Value>(matrix, ShareView(matrix), order, parameters.real("slots_per_nonzero"));
    layout->nonzero_count = matrix.nonzeros();
    layout->origin = Origin(ShareView(matrix));
    return layout;
}

/// Of `reduce`, for the order in which the slots lie.
struct EllReduce {
    static auto choose(const auto& ell, const auto& use) {
        return ell.order == EllOrder::row_major ? EllNeighbours::choose(ell, use) : EllWarps::choose(ell, use);
    }
};

}  // namespace

template <ValueType Value>
void EllLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    with_schedule<EllRow>(this->stored(),
                          [&]<typename Rows>(Rows) { for_each_stored_slot<Rows>(this->stored(), origin, visit); });
}

LayoutEntry ell_entry() {
    LayoutEntry entry{
        .name = "ell",
        .summary = "ELL: every row padded to the longest one, stored column by column or row by row",
        .source =
            "Kincaid, Oppe and Young, 'ITPACKV 2D user's guide' (1989); kernels after Wikberg, 'Unstructured mesh FVM with "
            "GPU' (2025), section 4.2.3",
        .examples = {std::string(column_major_example), std::string(row_major_example)},
        .parameters = {{.name = "order",
                        .type = ParameterType::choice,
                        .default_value = "column_major",
                        .words = {"column_major", "row_major"},
                        .help = "which slots are neighbours: the k-th ones of all rows, or those of a row"},
                       slots_per_nonzero_parameter(10)},
        .needs = [](const Parameters&) { return Needs{.unsplit = true}; },
        .build = {build<float>, build<double>},
        .empty = empty_layouts_of<EllLayout>(),
        .fields = field_lists_of<EllLayout>(),
        .schedules = {schedule_of<EllLayout, EllRow>("rows"), schedule_of<EllLayout, EllReduce>("reduce"),
                      schedule_of<EllLayout, EllEachSlot>("atomic")},
        .storage_sizes = ell_storage_sizes,
        .kernels = {host_rows<EllLayout, EllRow>("rows", "blocks of rows in parallel, all slots of a row")},
    };
    if constexpr (WORKBENCH_HAS_CUDA) entry.add(ell_cuda_kernels());
    return entry;
}

}  // namespace workbench
