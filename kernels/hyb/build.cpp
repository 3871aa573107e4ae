#include <fmt/format.h>

#include <algorithm>

#include "kernels/common/refusal/slot_bound.hpp"
#include "kernels/common/refusal/value_range.hpp"
#include "kernels/common/schedule/walk.hpp"
#include "kernels/hyb/layout.hpp"
#include "pipeline/contract/errors.hpp"

namespace workbench {
namespace {

constexpr std::string_view example = R"(
[[stage]]
use = "split"
by = "first_k"
k = 2

[layout]
use = "hyb"
)";

void require_no_other_share(const StagedMatrix& staged, const Share& first, const Share& rest) {
    const std::size_t split = first.entries.size() + rest.entries.size();
    if (split == staged.matrix.values.size()) return;
    throw Unsuitable(fmt::format("the shares 'first' and 'rest' hold {} of {} nonzeros, but HYB stores no other share", split,
                                 staged.matrix.values.size()));
}

bool are_all_rows_in_order(const HostArray<Index>& rows, Index row_count) {
    return static_cast<Index>(rows.size()) == row_count && std::is_sorted(rows.begin(), rows.end());
}

template <ValueType Value>
std::unique_ptr<Layout<Value>> build(const StagedMatrix& staged, const Parameters& parameters) {
    const CsrMatrix& matrix = staged.matrix;
    const Share& first = *staged.find_share({ShareKind::first});
    const Share& rest = *staged.find_share({ShareKind::rest});
    require_no_other_share(staged, first, rest);
    require_values_in_range<Value>(matrix);
    auto layout = std::make_unique<HybLayout<Value>>();
    layout->row_count = matrix.rows;
    layout->column_count = matrix.columns;
    layout->nonzero_count = matrix.nonzeros();
    layout->first = build_ell<Value>(matrix, ShareView(first), EllOrder::column_major, parameters.real("slots_per_nonzero"));
    if (!are_all_rows_in_order(first.rows, matrix.rows)) layout->first_rows = first.rows;
    layout->first_origin = Origin(ShareView(first));
    layout->rest_origin = entries_of(ShareView(rest));
    layout->rest = build_triplets<Value>(matrix, ShareView(rest));
    return layout;
}

}  // namespace

template <ValueType Value>
void HybLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    require_as_many_rows(this->rest);
    for_each_stored_slot<HybFirst>(this->stored(), first_origin, visit);
    for_each_stored_slot<HybRest>(
        this->stored(), WalkedArrays::of<HybRest>(this->stored()), [&](Offset stored, Offset) { return rest_origin[stored]; },
        visit);
}

LayoutEntry hyb_entry() {
    LayoutEntry entry{
        .name = "hyb",
        .summary = "ELL for the first nonzeros of each row, a coordinate list for the rest of the longer rows",
        .source =
            "Bell and Garland, 'Implementing sparse matrix-vector multiplication on throughput-oriented processors' (2009)",
        .examples = {std::string(example)},
        .parameters = {slots_per_nonzero_parameter(10)},
        .needs =
            [](const Parameters&) {
                return Needs{.shares = {{ShareKind::first}, {ShareKind::rest}}};
            },
        .build = {build<float>, build<double>},
        .empty = empty_layouts_of<HybLayout>(),
        .fields = field_lists_of<HybLayout>(),
        .schedules = {schedule_of<HybLayout, HybFirst, HybRest>("segmented"),
                      schedule_of<HybLayout, HybFirst, HybRest>("atomic")},
        .kernels = hyb_reference_kernels(),
    };
    if constexpr (WORKBENCH_HAS_CUDA) entry.add(hyb_cuda_kernels());
    return entry;
}

}  // namespace workbench
