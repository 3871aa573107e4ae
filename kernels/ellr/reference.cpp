#include "kernels/common/device/host_loops.hpp"
#include "kernels/common/device/prepare.hpp"
#include "kernels/ellr/layout.hpp"

namespace workbench {
namespace {

/// A row at a time. Neighbouring rows, which the same thread takes next, find their slots in the lines that are in the cache.
template <ValueType Value>
class EllrRows final : public Kernel<Value> {
public:
    explicit EllrRows(const EllrLayout<Value>& layout) : layout_(layout) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        const Index* lengths = layout_.row_lengths.data();
        const Index* columns = layout_.slots.columns.data();
        const Value* values = layout_.slots.values.data();
        const Offset stride = layout_.slots.slot_stride();
        for_each_in_parallel(layout_.slots.row_count, 256, [=](std::int64_t row) {
            Value sum = 0;
            const Offset end = row + lengths[row] * stride;
            for (Offset slot = row; slot < end; slot += stride) sum += values[slot] * x[columns[slot]];
            put(y, static_cast<Index>(row), sum, accumulate);
        });
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return layout_.bytes_of_product(); }

private:
    const EllrLayout<Value>& layout_;
};

}  // namespace

std::vector<KernelEntry> ellr_reference_kernels() {
    return {{.name = "rows",
             .backend = Backend::kokkos,
             .summary = "rows in parallel, as many slots of each as it has nonzeros",
             .prepare = prepare_as<EllrRows, EllrLayout>}};
}

}  // namespace workbench
