#include "kernels/common/device/host_loops.hpp"
#include "kernels/common/device/prepare.hpp"
#include "kernels/common/storage/multiply_slice.hpp"
#include "kernels/sell/layout.hpp"

namespace workbench {
namespace {

template <ValueType Value>
class SellSlices final : public Kernel<Value> {
public:
    explicit SellSlices(const SellLayout<Value>& layout) : layout_(layout) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        const auto& slices = layout_.slices;
        for_each_in_parallel(slices.slice_count(), slice_chunk, [&](std::int64_t slice) {
            const std::int64_t first_row = slice * slices.slice_height;
            const std::int64_t rows_left = layout_.row_count - first_row;
            multiply_slice(slices, static_cast<Index>(slice), x, [&](Index lane, Value sum) {
                if (lane < rows_left) put(y, static_cast<Index>(first_row + lane), sum, accumulate);
            });
        });
    }

private:
    const SellLayout<Value>& layout_;
};

}  // namespace

std::vector<KernelEntry> sell_reference_kernels() {
    return {{.name = "slices",
             .backend = Backend::kokkos,
             .summary = "slices in parallel, the rows of a slice side by side",
             .prepare = prepare_as<SellSlices, SellLayout>}};
}

}  // namespace workbench
