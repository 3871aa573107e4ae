#include "kernels/common/storage/add_runs.cuh"
#include "kernels/coo/layout.hpp"
#include "kernels/device/prepare.hpp"

namespace workbench {
namespace {

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

}  // namespace

std::vector<KernelEntry> coo_cuda_kernels() {
    return {device_rows<CooLayout, EachTriplet>("atomic", "one thread a nonzero, which adds to y atomically"),
            {"segmented", Backend::cuda, "one thread a nonzero, a warp sums each row that it holds before it adds to y",
             prepare_as<CooRuns, CooLayout>(), prepare_rows_as<CooRuns, CooLayout>()}};
}

}  // namespace workbench
