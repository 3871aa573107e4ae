#include <algorithm>

#include "kernels/common/device/host_loops.hpp"
#include "kernels/common/device/prepare.hpp"
#include "kernels/csc/layout.hpp"

namespace workbench {
namespace {

template <ValueType Value>
class CscColumns final : public Kernel<Value> {
public:
    explicit CscColumns(const CscLayout<Value>& layout) : layout_(layout) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (!accumulate) std::fill_n(y, layout_.row_count, Value{0});
        const Offset* offsets = layout_.column_offsets.data();
        const Index* rows = layout_.row_indices.data();
        const Value* values = layout_.values.data();
        for_each_in_parallel(layout_.column_count, 64, [=](std::int64_t column) {
            for (Offset k = offsets[column]; k < offsets[column + 1]; ++k) {
                Kokkos::atomic_add(y + rows[k], values[k] * x[column]);
            }
        });
    }

private:
    const CscLayout<Value>& layout_;
};

}  // namespace

std::vector<KernelEntry> csc_reference_kernels() {
    return {{.name = "columns",
             .backend = Backend::kokkos,
             .summary = "columns in parallel, each product is added to y atomically",
             .prepare = prepare_as<CscColumns, CscLayout>}};
}

}  // namespace workbench
