// COO on a GPU: y is zeroed on the stream, then added to atomically, so that threads cannot race in global memory; no shared
// memory is used. The kernels are in kernels/common/device_triplets.cuh.
#include "kernels/common/storage/device_triplets.cuh"
#include "kernels/coo/layout.hpp"

namespace workbench {
namespace {

template <ValueType Value>
class CooKernel final : public Kernel<Value> {
public:
    CooKernel(const CooLayout<Value>& layout, Device& device, triplets::Add<Value> add)
        : stream_(cuda_device(device).stream()),
          add_(add),
          rows_(layout.row_count),
          triplets_(device, layout.triplets, "COO") {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (!accumulate && rows_ > 0) zero_result(y, rows_, stream_);
        triplets::launch(add_, triplets_.view(), x, y, stream_);
    }

private:
    cudaStream_t stream_;
    triplets::Add<Value> add_;
    Index rows_;
    DeviceTriplets<Value> triplets_;
};

template <ValueType Value>
std::unique_ptr<Kernel<Value>> prepare_atomic(const Layout<Value>& layout, Device& device) {
    return std::make_unique<CooKernel<Value>>(dynamic_cast<const CooLayout<Value>&>(layout), device, triplets::add_each<Value>);
}

template <ValueType Value>
std::unique_ptr<Kernel<Value>> prepare_segmented(const Layout<Value>& layout, Device& device) {
    return std::make_unique<CooKernel<Value>>(dynamic_cast<const CooLayout<Value>&>(layout), device, triplets::add_runs<Value>);
}

}  // namespace

std::vector<KernelEntry> coo_cuda_kernels() {
    return {
        {"atomic",
         Backend::cuda,
         "one thread a nonzero, which adds to y atomically",
         {prepare_atomic<float>, prepare_atomic<double>}},
        {"segmented",
         Backend::cuda,
         "one thread a nonzero, a warp sums each row that it holds before it adds to y",
         {prepare_segmented<float>, prepare_segmented<double>}},
    };
}

}  // namespace workbench
