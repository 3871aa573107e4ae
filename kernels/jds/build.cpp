#include "kernels/common/refusal/descending_rows.hpp"
#include "kernels/common/refusal/value_range.hpp"
#include "kernels/common/schedule/host_rows.hpp"
#include "kernels/jds/layout.hpp"

namespace workbench {
namespace {

constexpr std::string_view example = R"(
[[stage]]
use = "row_sort"
apply = "rows"

[layout]
use = "jds"
)";

template <ValueType Value>
std::unique_ptr<Layout<Value>> build(const StagedMatrix& staged, const Parameters&) {
    const CsrMatrix& matrix = staged.matrix;
    require_values_in_range<Value>(matrix);
    require_descending(ShareView(matrix),
                       {.wish = "jagged diagonals need rows in descending length", .stage = "row_sort with apply = \"rows\""});
    auto layout = std::make_unique<JdsLayout<Value>>();
    layout->row_count = matrix.rows;
    layout->column_count = matrix.columns;
    layout->nonzero_count = matrix.nonzeros();
    static_cast<Jagged<Value, Index, HostArray>&>(*layout) =
        build_jagged<Value, Index>(matrix, ShareView(matrix), {{0, matrix.rows}, {0, matrix.columns}});
    layout->origin = Origin(ShareView(matrix));
    return layout;
}

}  // namespace

template <ValueType Value>
void JdsLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    require_sound_diagonals(this->diagonal_offsets, {0, this->diagonal_count()}, {0, this->row_count}, this->values.size());
    for_each_jagged_slot<JdsRows>(this->stored(), origin, visit);
}

LayoutEntry jds_entry() {
    LayoutEntry entry{
        .name = "jds",
        .summary = "jagged diagonals: of rows in descending length the first entries, then the second ones, without padding",
        .source = "Saad, 'Krylov subspace methods on supercomputers' (1989)",
        .examples = {std::string(example)},
        .parameters = {},
        .needs = [](const Parameters&) { return Needs{.unsplit = true}; },
        .build = {build<float>, build<double>},
        .empty = empty_layouts_of<JdsLayout>(),
        .fields = field_lists_of<JdsLayout>(),
        .schedules = {schedule_of<JdsLayout, JdsRows>("streaming"), schedule_of<JdsLayout, JdsRows>("constant"),
                      schedule_of<JdsLayout, JdsRows>("uncached")},
        .kernels = {host_rows<JdsLayout, JdsRows>("rows", "blocks of rows in parallel, diagonal by diagonal")},
    };
    if constexpr (WORKBENCH_HAS_CUDA) entry.add(jds_cuda_kernels());
    return entry;
}

}  // namespace workbench
