#include <stdexcept>

#include "kernels/common/entry/format.hpp"
#include "kernels/common/refusal/slot_bound.hpp"
#include "kernels/common/storage/predicted.hpp"
#include "kernels/ellr/layout.hpp"

namespace workbench {
namespace {

constexpr auto fill = []<ValueType Value>(EllrLayout<Value>& layout, const StagedMatrix& staged, const Parameters& parameters) {
    const CsrMatrix& matrix = staged.matrix;
    static_cast<Ell<Value, HostArray>&>(layout) =
        build_ell<Value>(matrix, ShareView(matrix), EllOrder::column_major, parameters.real("slots_per_nonzero"));
    layout.row_lengths.resize(matrix.rows);
    for (Index row = 0; row < matrix.rows; ++row) layout.row_lengths[row] = static_cast<Index>(matrix.row_length(row));
    layout.origin = Origin(ShareView(matrix));
};

LayoutCost predict_ellr(const PatternForecast& pattern, const Parameters& parameters, Precision precision) {
    const Offset slots = pattern.longest_row() * pattern.rows();
    const std::int64_t slot_bytes = index_bytes + value_bytes(precision);
    LayoutCost cost = cost_of_arrays(pattern, precision, slots, slots * slot_bytes + pattern.rows() * index_bytes, 1.05);
    cost.exact = true;  // in any order
    cost.unread_bytes = (slots - pattern.nonzeros()) * slot_bytes;
    cost.sectors += sectors_of_idle_lanes(pattern);
    cost.chain = pattern.longest_row();
    refuse_slots(cost, parameters, pattern.nonzeros());
    return cost;
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
        if (this->row_lengths[row] != this->origin.length(row)) {
            throw std::logic_error("ellr: the length of a row is not the number of its nonzeros");
        }
    }
    OriginLayout<Value, Ellr<Value, HostArray>, EllrSlots>::for_each_slot(visit);
}

LayoutEntry ellr_entry() {
    return format<EllrLayout>(
               {.summary = "ELLPACK-R: ELL column by column with the length of each row, so that padding is never read",
                .source = "Vazquez, Ortega, Fernandez and Garzon, 'Improving the performance of the sparse matrix vector "
                          "product with "
                          "GPUs' (2010)",
                .parameters = {slots_per_nonzero_parameter(10)},
                .predict = predict_ellr},
               fill)
        .host<EllrRows>("rows", "rows in parallel, as many slots of each as it has nonzeros")
        .cuda<EllrRows>("rows", "one thread per row, which stops at the end of the row");
}

// For cuda.cu.
template struct EllrLayout<float>;
template struct EllrLayout<double>;

}  // namespace workbench
