#include "kernels/common/entry/format.hpp"
#include "kernels/common/schemes/add_triplets.hpp"
#include "kernels/common/storage/literature_sizes.hpp"
#include "kernels/common/storage/predicted.hpp"
#include "kernels/formats/coo/layout.hpp"

namespace workbench {
namespace {

constexpr auto fill = []<ValueType Value>(CooLayout<Value>& layout, const StagedMatrix& staged, const Parameters& parameters) {
    fill_in_coding<Value>(layout, staged.matrix, parameters, [&](auto& arrays) {
        Triplets<Value, HostArray> triplets = build_triplets<Value>(staged.matrix, ShareView(staged.matrix));
        static_cast<TripletPlaces<HostArray>&>(arrays) = std::move(triplets);
        return std::move(triplets.values);
    });
};

template <ValueType Value>
class CooHostRuns final : public Kernel<Value> {
public:
    explicit CooHostRuns(const CooLayout<Value>& layout) : layout_(layout) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (!accumulate) std::fill_n(y, layout_.rows(), Value{0});
        with_stored(layout_, [&](const auto& coo) { add_triplets<Value>(coo, x, y); });
    }

private:
    const CooLayout<Value>& layout_;
};

LayoutCost predict_coo(const PatternForecast& pattern, const Parameters& parameters, Precision precision) {
    const Offset nonzeros = pattern.nonzeros();
    const std::int64_t bytes = nonzeros * (2 * index_bytes + bytes_of_values(parameters, precision));
    LayoutCost cost = cost_of_arrays(pattern, precision, nonzeros, bytes, 0.75);
    cost.exact = cost.exact && !has_dictionary(parameters);
    return cost;
}

}  // namespace

template <ValueType Value>
void CooLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    with_stored(*this, [&](const auto& coo) {
        require_as_many_rows(coo);
        for_each_stored_slot<EachTriplet>(
            coo, [](const Slot&, Offset stored, Offset) { return stored; }, visit);
    });
}

LayoutEntry coo_entry() {
    return format<CooLayout>(
               {.summary = "coordinate list: a row, a column and a value for each nonzero, row by row",
                .source = "Bell and Garland, 'Implementing sparse matrix-vector multiplication on throughput-oriented "
                          "processors' (2009)",
                .parameters = {any_coding_parameter()},
                .rows_of_share = RowsOfShare::all,
                .settle = settle_any_coding,
                .storage_sizes = coo_storage_sizes,
                .predict = predict_coo},
               fill)
        .host<CooHostRuns>("runs", "runs of nonzeros in parallel, the sum of each row in a run is added to y atomically")
        .vectors<TripletRows>()
        .cuda<EachTriplet>("atomic", "one thread per nonzero, which adds to y atomically")
        .cuda<CooRuns, EachTriplet>("segmented", "one thread per nonzero, a warp sums up each of its rows before it adds to y");
}

}  // namespace workbench
