// cuSPARSE's product on the slices of sell.
#include <utility>

#include "kernels/common/schedule/walk.hpp"
#include "kernels/formats/rows/variants.hpp"
#include "kernels/vendor/cusparse_slices.hpp"

namespace workbench {
namespace {

template <ValueType Value>
std::unique_ptr<Kernel<Value>> prepare(const Layout<Value>& layout, Device& device) {
    require_cusparse(layout.nonzeros());
    const auto& own = dynamic_cast<const AnyRowsLayout<Value>&>(layout);
    return with_slices<std::unique_ptr<Kernel<Value>>>(own, [&]<typename Sell>(const Sell& sell) {
        // A lane's nonzeros are its first slots.
        HostArray<Offset> lengths(sell.row_count, 0);
        for (Index row = 0; row < sell.row_count; ++row) lengths[row] = own.origin.length(row);
        CusparseSlices<Value> same(std::move(lengths), sell.slice_height);
        using Rows = SellRows<1, 0, widest_kind<Sell>>;
        same.fill([&](Index row, Offset k) {
            const auto run = Rows::run(sell, row, PlainLoad{});
            return std::pair(column_of<Rows>(sell, run, RunSlot{k, run.slot(k)}), static_cast<Value>(sell.values[run.slot(k)]));
        });
        return prepare_cusparse<Value>(same.to(device, sell.column_count, own.nonzero_count), device);
    });
}

}  // namespace

std::vector<KernelEntry> sell_cusparse_kernels() {
    return {{"sell_alg1",
             Backend::cusparse,
             "cusparseSpMV on the same slices, CUSPARSE_SPMV_SELL_ALG1",
             {prepare<float>, prepare<double>}}};
}

}  // namespace workbench
