// HYB on a GPU: ELL with one thread per row, then the rest with one thread per nonzero, on one stream. In the first kernel each
// row of y belongs to one thread; the second, which begins after the first has ended, adds atomically. So threads cannot race
// in global memory; no shared memory is used. Rows that are not in ELL are zeroed before, on the same stream.
#include "kernels/common/entry/cuda_loop.cuh"
#include "kernels/common/entry/device_rows.cuh"
#include "kernels/common/schemes/add_runs.cuh"
#include "kernels/formats/hyb/layout.hpp"

namespace workbench {
namespace {

template <ValueType Value, bool segmented>
class HybKernel : public Kernel<Value> {
public:
    HybKernel(const HybLayout<Value>& layout, std::span<const Index> rows, Device& device)
        : stream_(cuda_device(device).stream()), hyb_(copy_to(device, layout.stored(), "hyb")), rows_(device, rows, "hyb") {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (hyb_.row_count == 0) return;
        if (!accumulate && !hyb_.first_has_all_rows()) rows_.zero(y, hyb_.row_count, stream_);
        const auto view = view_of(hyb_);
        launch_rows<HybFirst>(view, rows_.view(), x, y, accumulate, stream_, "hyb first");
        if constexpr (segmented) {
            launch_runs<HybRest>(view, rows_.view(), x, y, stream_, "hyb rest");
        } else {
            launch_rows<HybRest>(view, rows_.view(), x, y, true, stream_, "hyb rest");
        }
    }

private:
    cudaStream_t stream_;
    Hyb<Value, DeviceArray> hyb_;
    OwnedTargetRows rows_;
};

}  // namespace

template <ValueType Value>
struct HybSegmented final : HybKernel<Value, true> {
    using HybSegmented::HybKernel::HybKernel;
};
template <ValueType Value>
struct HybAtomic final : HybKernel<Value, false> {
    using HybAtomic::HybKernel::HybKernel;
};

template struct CudaLoop<HybLayout, HybSegmented>;
template struct CudaLoop<HybLayout, HybAtomic>;

}  // namespace workbench
