#include <stdexcept>

#include "kernels/common/entry/format.hpp"
#include "kernels/common/refusal/refusals.hpp"
#include "kernels/common/storage/predicted.hpp"
#include "kernels/formats/ellr/layout.hpp"

namespace workbench {
namespace {

constexpr auto fill = []<ValueType Value>(EllrLayout<Value>& layout, const StagedMatrix& staged, const Parameters& parameters) {
    const CsrMatrix& matrix = staged.matrix;
    layout.origin = Origin(ShareView(matrix));
    fill_in_coding<Value>(layout, matrix, parameters, [&](auto& arrays) {
        Ell<Value, HostArray> ell =
            build_ell<Value>(matrix, ShareView(matrix), EllOrder::column_major, parameters.real("slots_per_nonzero"));
        static_cast<EllColumns<HostArray>&>(arrays) = std::move(ell);
        arrays.row_lengths.resize(matrix.rows);
        for (Index row = 0; row < matrix.rows; ++row) arrays.row_lengths[row] = static_cast<Index>(matrix.row_length(row));
        return std::move(ell.values);
    });
};

LayoutCost predict_ellr(const PatternForecast& pattern, const Parameters& parameters, Precision precision) {
    const Offset slots = pattern.longest_row() * pattern.rows();
    const std::int64_t slot_bytes = index_bytes + bytes_of_values(parameters, precision);
    LayoutCost cost = cost_of_arrays(pattern, precision, slots, slots * slot_bytes + pattern.rows() * index_bytes, 1.05);
    cost.exact = !has_dictionary(parameters);  // in any order
    cost.unread_bytes = (slots - pattern.nonzeros()) * slot_bytes;
    cost.sectors += sectors_of_idle_lanes(pattern);
    cost.chain = pattern.longest_row();
    refuse_slots(cost, parameters, pattern.nonzeros());
    return cost;
}

std::optional<DeviceStorage> on_device(const Parameters& parameters) {
    const auto values = values_on_device(parameters);
    if (!values) return std::nullopt;
    return PaddedRows{
        .row_major = false, .with_lengths = true, .slots_per_nonzero = parameters.real("slots_per_nonzero"), .values = *values};
}

}  // namespace

template <ValueType Value>
std::int64_t EllrLayout<Value>::bytes_of_product() const {
    return with_stored(*this, [this](const auto& arrays) {
        return this->bytes_to_move() - (arrays.slot_count() - this->nonzeros()) * bytes_of_slot(arrays);
    });
}

template <ValueType Value>
void EllrLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    with_stored(*this, [this](const auto& arrays) {
        for (Index row = 0; row < arrays.row_count; ++row) {
            if (arrays.row_lengths[row] != this->origin.length(row)) {
                throw std::logic_error("ellr: the length of a row is not the number of its nonzeros");
            }
        }
    });
    OriginLayout<Value, InAnyCoding<Ellr, Value>, EllrSlots>::for_each_slot(visit);
}

LayoutEntry ellr_entry() {
    return format<EllrLayout>(
               {.summary = "ELLPACK-R: ELL column by column with the length of each row, so that padding is never read",
                .source = "Vazquez, Ortega, Fernandez and Garzon, 'Improving the performance of the sparse matrix vector "
                          "product with "
                          "GPUs' (2010)",
                .parameters = {slots_per_nonzero_parameter(10), any_coding_parameter()},
                .settle = settle_any_coding,
                .predict = predict_ellr,
                .on_device = on_device,
                .kernel_on_device = "rows"},
               fill)
        .host<EllrRows>("rows", "rows in parallel, as many slots of each as it has nonzeros")
        .cuda<EllrRows>("rows", "one thread per row, which stops at the end of the row");
}

// For cuda.cu.
template struct EllrLayout<float>;
template struct EllrLayout<double>;

}  // namespace workbench
