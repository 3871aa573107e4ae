#include "kernels/common/entry/cuda_loop.cuh"
#include "kernels/common/schemes/add_runs.cuh"
#include "kernels/formats/coo/layout.hpp"

namespace workbench {
namespace {

template <ValueType Value, typename Stored>
class CooSegmented final : public Kernel<Value> {
public:
    CooSegmented(const Stored& coo, std::span<const Index> rows, Device& device)
        : stream_(cuda_device(device).stream()), coo_(copy_to(device, coo, "coo")), rows_(device, rows, "coo") {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (!accumulate) rows_.zero(y, coo_.row_count, stream_);
        launch_runs<EachTriplet>(view_of(coo_), rows_.view(), x, y, stream_, "coo");
    }

private:
    cudaStream_t stream_;
    InStorage<Stored, DeviceArray> coo_;
    OwnedTargetRows rows_;
};

}  // namespace

template <ValueType Value>
struct CooRuns {
    static std::unique_ptr<Kernel<Value>> prepare(const CooLayout<Value>& layout, std::span<const Index> rows, Device& device) {
        return with_stored(layout, [&]<typename Stored>(const Stored& coo) -> std::unique_ptr<Kernel<Value>> {
            return std::make_unique<CooSegmented<Value, Stored>>(coo, rows, device);
        });
    }
};

template struct CudaRows<CooLayout, EachTriplet>;
template struct CudaLoop<CooLayout, CooRuns>;

}  // namespace workbench
