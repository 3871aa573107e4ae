// cuSPARSE's sliced ELL over the same rows in the same order, with the same slice height: the comparison of table 5.2 of the
// source.
#include <utility>

#include "kernels/formats/staircase_sell/layout.hpp"
#include "kernels/vendor/cusparse_slices.hpp"

namespace workbench {
namespace {

template <ValueType Value>
std::unique_ptr<Kernel<Value>> prepare(const Layout<Value>& layout, Device& device) {
    require_cusparse(layout.nonzeros());
    const auto& staircase = dynamic_cast<const StaircaseSellLayout<Value>&>(layout);
    const Index height = staircase.slice_height;
    HostArray<Offset> lengths(staircase.row_count);
    for (Index row = 0; row < staircase.row_count; ++row) {
        lengths[row] = staircase.row_offsets[row + 1] - staircase.row_offsets[row];
    }
    CusparseSlices<Value> slices(std::move(lengths), height);
    Index group = 0;
    slices.fill([&](Index row, Offset k) {
        while (row >= staircase.group_rows[group + 1]) ++group;
        const Offset place = Offset{row} - staircase.group_rows[group];
        const Offset slot = staircase.slice_slot(group, place / height) + k * height + place % height;
        return std::pair(staircase.column_indices[slot], staircase.values[slot]);
    });
    return prepare_cusparse<Value>(slices.to(device, staircase.column_count, staircase.nonzeros()), device);
}

}  // namespace

std::vector<KernelEntry> staircase_sell_cusparse_kernels() {
    return {{"sell_alg1",
             Backend::cusparse,
             "cusparseSpMV on sliced ELL of the same rows and slice height, CUSPARSE_SPMV_SELL_ALG1",
             {prepare<float>, prepare<double>}}};
}

}  // namespace workbench
