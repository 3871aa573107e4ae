// HYB on a GPU: ELL with a thread a row, then the rest with a thread a nonzero, one after the other on one stream. In the first
// kernel each row of y belongs to one thread; the second, which begins when the first has ended, adds atomically. So threads
// cannot race in global memory; no shared memory is used. Rows that ELL does not have are zeroed before, on the same stream.
#include "kernels/common/storage/add_runs.cuh"
#include "kernels/device/prepare.hpp"
#include "kernels/hyb/layout.hpp"

namespace workbench {
namespace {

template <ValueType Value, bool segmented>
class HybKernel final : public Kernel<Value> {
public:
    HybKernel(const HybLayout<Value>& layout, std::span<const Index> rows, Device& device)
        : stream_(cuda_device(device).stream()), hyb_(copy_to(device, layout.stored(), "hyb")), rows_(device, rows, "hyb") {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (hyb_.row_count == 0) return;
        if (!accumulate && !hyb_.first_has_all_rows()) rows_.zero(y, hyb_.row_count, stream_);
        const auto view = view_of(hyb_);
        const auto launch = [&]<typename Schedule>(Schedule, bool adds, const char* name) {
            if (rows_.view().rows == nullptr) return launch_rows<Schedule>(view, x, y, adds, stream_, name);
            const ShareArrays<decltype(view_of(hyb_))> share{view, {rows_.view().rows, hyb_.row_count}};
            launch_rows<ShareRows<Schedule>>(share, x, y, adds, stream_, name);
        };
        launch(HybFirst{}, accumulate, "hyb first");
        if constexpr (segmented) {
            launch_runs<HybRest>(view, rows_.view(), x, y, stream_, "hyb rest");
        } else {
            launch(HybRest{}, true, "hyb rest");
        }
    }

private:
    cudaStream_t stream_;
    Hyb<Value, DeviceArray> hyb_;
    OwnedTargetRows rows_;
};

template <ValueType Value>
using Segmented = HybKernel<Value, true>;
template <ValueType Value>
using Atomic = HybKernel<Value, false>;

}  // namespace

std::vector<KernelEntry> hyb_cuda_kernels() {
    return {
        {"segmented", Backend::cuda,
         "one thread a row, then one thread a nonzero of the rest; a warp sums each row that it holds before it adds",
         prepare_as<Segmented, HybLayout>(), prepare_rows_as<Segmented, HybLayout>()},
        {"atomic", Backend::cuda, "one thread a row, then one thread a nonzero of the rest, which adds atomically",
         prepare_as<Atomic, HybLayout>(), prepare_rows_as<Atomic, HybLayout>()},
    };
}

}  // namespace workbench
