#include "kernels/common/refusal/value_range.hpp"
#include "kernels/common/schedule/walk.hpp"
#include "kernels/common/storage/add_triplets.hpp"
#include "kernels/coo/layout.hpp"
#include "kernels/coo/storage_size.hpp"
#include "kernels/device/prepare.hpp"

namespace workbench {
namespace {

template <ValueType Value>
std::unique_ptr<Layout<Value>> build(const StagedMatrix& staged, const Parameters&) {
    const CsrMatrix& matrix = staged.matrix;
    require_values_in_range<Value>(matrix);
    auto layout = std::make_unique<CooLayout<Value>>();
    layout->row_count = matrix.rows;
    layout->column_count = matrix.columns;
    layout->nonzero_count = matrix.nonzeros();
    static_cast<Triplets<Value, HostArray>&>(*layout) = build_triplets<Value>(matrix, ShareView(matrix));
    return layout;
}

template <ValueType Value>
class CooRuns final : public Kernel<Value> {
public:
    explicit CooRuns(const CooLayout<Value>& layout) : layout_(layout) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (!accumulate) std::fill_n(y, layout_.row_count, Value{0});
        add_triplets<Value>(layout_, x, y);
    }

private:
    const CooLayout<Value>& layout_;
};

}  // namespace

template <ValueType Value>
void CooLayout<Value>::for_each_slot(const std::function<void(const Slot&)>& visit) const {
    require_as_many_rows(this->stored());
    for_each_stored_slot<EachTriplet>(
        this->stored(), WalkedArrays::of<EachTriplet>(this->stored()), [](Offset stored, Offset) { return stored; }, visit);
}

LayoutEntry coo_entry() {
    LayoutEntry entry{
        .name = "coo",
        .summary = "coordinate list: a row, a column and a value for each nonzero, row by row",
        .source =
            "Bell and Garland, 'Implementing sparse matrix-vector multiplication on throughput-oriented processors' (2009)",
        .parameters = {},
        .needs = [](const Parameters&) { return Needs{.unsplit = true}; },
        .rows_of_share = RowsOfShare::all,
        .build = {build<float>, build<double>},
        .empty = empty_layouts_of<CooLayout>(),
        .fields = field_lists_of<CooLayout>(),
        .schedules = {schedule_of<CooLayout, EachTriplet>("atomic"), schedule_of<CooLayout, EachTriplet>("segmented")},
        .storage_sizes = coo_storage_sizes,
        .kernels = {{"runs", Backend::kokkos, "runs of nonzeros in parallel, a row's sum in a run is added to y atomically",
                     prepare_as<CooRuns, CooLayout>()}},
    };
    if constexpr (WORKBENCH_HAS_CUDA) entry.add(coo_cuda_kernels());
    return entry;
}

}  // namespace workbench
