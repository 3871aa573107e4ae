// CSC on a GPU: y is zeroed on the stream, then added to atomically, so that threads cannot race in global memory; no shared
// memory is used.
#include "kernels/common/schedule/device_rows.cuh"
#include "kernels/csc/layout.hpp"
#include "kernels/device/prepare.hpp"

namespace workbench {
namespace {

template <typename Schedule, typename Arrays, typename Value>
__global__ void __launch_bounds__(row_threads)
    add_columns(const __grid_constant__ Arrays csc, const Value* __restrict__ x, Value* __restrict__ y) {
    const auto run = Schedule::run(csc, static_cast<Offset>(blockIdx.x) * row_threads + threadIdx.x);
    if (run.row < 0) return;
    const Value x_of_column = x[run.row];
    // Nothing waits for the atomic additions: the loads of the next round are issued before they are done.
    for (Offset k = 0; k < run.count; ++k) {
        const Offset slot = run.slot(k);
        atomicAdd(y + __ldcs(csc.row_indices.data() + slot), __ldcs(csc.values.data() + slot) * x_of_column);
    }
}

template <ValueType Value>
class CscKernel final : public Kernel<Value> {
public:
    CscKernel(const CscLayout<Value>& layout, Device& device)
        : stream_(cuda_device(device).stream()), csc_(copy_to(device, layout.stored(), "csc")) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (!accumulate && csc_.row_count > 0) zero_result(y, csc_.row_count, stream_);
        with_csc_columns(csc_, [&]<typename Schedule>(Schedule) {
            const auto view = view_of(csc_);
            const Offset threads = Schedule::threads(view);
            if (threads == 0) return;
            add_columns<Schedule><<<blocks_for(threads, row_threads), row_threads, 0, stream_>>>(view, x, y);
            check_launch("csc");
        });
    }

private:
    cudaStream_t stream_;
    Csc<Value, DeviceArray> csc_;
};

}  // namespace

std::vector<KernelEntry> csc_cuda_kernels() {
    return {{"columns", Backend::cuda,
             "1 to 32 threads a column, by the mean column length, each product is added to y atomically",
             prepare_as<CscKernel, CscLayout>()}};
}

}  // namespace workbench
