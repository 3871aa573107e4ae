#include "kernels/common/device/host_loops.hpp"
#include "kernels/common/device/prepare.hpp"
#include "kernels/csr/layout.hpp"

namespace workbench {
namespace {

/// Rows in parallel; idle threads take the next few, so that a crowd of long rows does not keep one thread busy.
template <ValueType Value>
class CsrRows final : public Kernel<Value> {
public:
    explicit CsrRows(const CsrLayout<Value>& layout) : layout_(layout) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        const Offset* offsets = layout_.row_offsets.data();
        const Index* columns = layout_.column_indices.data();
        const Value* values = layout_.values.data();
        for_each_in_parallel(layout_.row_count, 64, [=](std::int64_t row) {
            Value sum = 0;
            for (Offset k = offsets[row]; k < offsets[row + 1]; ++k) sum += values[k] * x[columns[k]];
            put(y, static_cast<Index>(row), sum, accumulate);
        });
    }

private:
    const CsrLayout<Value>& layout_;
};

}  // namespace

std::vector<KernelEntry> csr_reference_kernels() {
    return {{.name = "rows",
             .backend = Backend::kokkos,
             .summary = "rows in parallel, some at a time to the next idle thread",
             .prepare = prepare_as<CsrRows, CsrLayout>}};
}

}  // namespace workbench
