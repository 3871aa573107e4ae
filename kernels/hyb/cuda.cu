// HYB on a GPU: ELL with a thread a row, then the rest with a thread a nonzero, one after the other on one stream. In the first
// kernel each row of y belongs to one thread; the second, which begins when the first has ended, adds atomically. So threads
// cannot race in global memory; no shared memory is used. Rows that ELL does not have are zeroed before, on the same stream.
#include "kernels/common/storage/add_runs.cuh"
#include "kernels/hyb/layout.hpp"

namespace workbench {
namespace {

template <ValueType Value, bool segmented>
class HybKernel final : public Kernel<Value> {
public:
    HybKernel(const HybLayout<Value>& layout, Device& device)
        : stream_(cuda_device(device).stream()), hyb_(copy_to(device, layout.stored(), "hyb")) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (hyb_.row_count == 0) return;
        if (!accumulate && !hyb_.first_has_all_rows()) zero_result(y, hyb_.row_count, stream_);
        const auto view = view_of(hyb_);
        launch_rows<HybFirst>(view, x, y, accumulate, stream_, "hyb first");
        if constexpr (segmented) {
            launch_runs<HybRest>(view, x, y, stream_, "hyb rest");
        } else {
            launch_rows<HybRest>(view, x, y, true, stream_, "hyb rest");
        }
    }

private:
    cudaStream_t stream_;
    Hyb<Value, DeviceArray> hyb_;
};

template <ValueType Value, bool segmented>
std::unique_ptr<Kernel<Value>> prepare(const Layout<Value>& layout, Device& device) {
    return std::make_unique<HybKernel<Value, segmented>>(dynamic_cast<const HybLayout<Value>&>(layout), device);
}

}  // namespace

std::vector<KernelEntry> hyb_cuda_kernels() {
    return {
        {"segmented",
         Backend::cuda,
         "one thread a row, then one thread a nonzero of the rest; a warp sums each row that it holds before it adds",
         {prepare<float, true>, prepare<double, true>}},
        {"atomic",
         Backend::cuda,
         "one thread a row, then one thread a nonzero of the rest, which adds atomically",
         {prepare<float, false>, prepare<double, false>}},
    };
}

}  // namespace workbench
