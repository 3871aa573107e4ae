#include "kernels/common/entry/cuda_loop.cuh"
#include "kernels/common/storage/add_runs.cuh"
#include "kernels/coo/layout.hpp"

namespace workbench {
template <ValueType Value>
class CooRuns final : public Kernel<Value> {
public:
    CooRuns(const CooLayout<Value>& layout, std::span<const Index> rows, Device& device)
        : stream_(cuda_device(device).stream()), coo_(copy_to(device, layout.stored(), "coo")), rows_(device, rows, "coo") {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (!accumulate) rows_.zero(y, coo_.row_count, stream_);
        launch_runs<EachTriplet>(view_of(coo_), rows_.view(), x, y, stream_, "coo");
    }

private:
    cudaStream_t stream_;
    Coo<Value, DeviceArray> coo_;
    OwnedTargetRows rows_;
};

template struct CudaRows<CooLayout, EachTriplet>;
template struct CudaLoop<CooLayout, CooRuns>;

}  // namespace workbench
