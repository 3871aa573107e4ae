#include <stdexcept>

#include "kernels/common/refusal/slot_bound.hpp"
#include "kernels/common/refusal/value_range.hpp"
#include "kernels/common/schedule/host_rows.hpp"
#include "kernels/ellr/layout.hpp"

namespace workbench {
namespace {

template <ValueType Value>
std::unique_ptr<Layout<Value>> build(const StagedMatrix& staged, const Parameters& parameters) {
    const CsrMatrix& matrix = staged.matrix;
    require_values_in_range<Value>(matrix);
    auto layout = std::make_unique<EllrLayout<Value>>();
    static_cast<Ell<Value, HostArray>&>(*layout) =
        build_ell<Value>(matrix, ShareView(matrix), EllOrder::column_major, parameters.real("slots_per_nonzero"));
    layout->row_lengths.resize(matrix.rows);
    for (Index row = 0; row < matrix.rows; ++row) layout->row_lengths[row] = static_cast<Index>(matrix.row_length(row));
    layout->nonzero_count = matrix.nonzeros();
    layout->origin = Origin(ShareView(matrix));
    return layout;
}

}  // namespace

template <ValueType Value>
std::int64_t EllrLayout<Value>::bytes_of_product() const {
    const Offset padding = this->slot_count() - this->nonzeros();
    return this->bytes_to_move() - padding * static_cast<std::int64_t>(sizeof(Value) + sizeof(Index));
}

template <ValueType Value>
void EllrLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    for (Index row = 0; row < this->row_count; ++row) {
        if (this->row_lengths[row] != origin.length(row)) {
            throw std::logic_error("ellr: the length of a row is not the number of its nonzeros");
        }
    }
    for_each_stored_slot<EllrSlots>(this->stored(), origin, visit);
}

template struct EllrLayout<float>;
template struct EllrLayout<double>;

LayoutEntry ellr_entry() {
    LayoutEntry entry{
        .name = "ellr",
        .summary = "ELLPACK-R: ELL column by column with the length of each row, so that padding is never read",
        .source =
            "Vazquez, Ortega, Fernandez and Garzon, 'Improving the performance of the sparse matrix vector product with GPUs' "
            "(2010)",
        .parameters = {slots_per_nonzero_parameter(10)},
        .needs = [](const Parameters&) { return Needs{.unsplit = true}; },
        .build = {build<float>, build<double>},
        .empty = empty_layouts_of<EllrLayout>(),
        .fields = field_lists_of<EllrLayout>(),
        .schedules = {schedule_of<EllrLayout, EllrRows>("rows")},
        .kernels = {host_rows<EllrLayout, EllrRows>("rows", "rows in parallel, as many slots of each as it has nonzeros")},
    };
    if constexpr (WORKBENCH_HAS_CUDA) entry.add(ellr_cuda_kernels());
    return entry;
}

}  // namespace workbench
