// CSC on a GPU: y is zeroed on the stream, then added to atomically, so that threads cannot race in global memory; no shared
// memory is used.
#include "kernels/common/entry/cuda_loop.cuh"
#include "kernels/common/entry/device_rows.cuh"
#include "kernels/formats/csc/layout.hpp"

namespace workbench {
namespace {

template <Schedule S, typename Arrays, typename Value>
__global__ void __launch_bounds__(row_threads)
    add_columns(const __grid_constant__ Arrays csc, const Value* __restrict__ x, Value* __restrict__ y) {
    const auto run = S::run(csc, static_cast<Offset>(blockIdx.x) * row_threads + threadIdx.x, StreamingLoad{});
    if (run.row < 0) return;
    const Value x_of_column = x[run.row];
    // The loads of the next round do not wait for the atomic additions.
    for (Offset k = 0; k < run.count; ++k) {
        const Offset slot = run.slot(k);
        atomicAdd(y + __ldcs(csc.row_indices.data() + slot), __ldcs(csc.values.data() + slot) * x_of_column);
    }
}

}  // namespace

template <ValueType Value>
class CscKernel final : public Kernel<Value> {
public:
    CscKernel(const CscLayout<Value>& layout, Device& device)
        : stream_(cuda_device(device).stream()), csc_(copy_to(device, layout.stored(), "csc")) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (!accumulate && csc_.row_count > 0) zero_result(y, csc_.row_count, stream_);
        with_csc_columns(csc_, [&]<Schedule S>(S) {
            const auto view = view_of(csc_);
            const Offset threads = S::threads(view);
            if (threads == 0) return;
            add_columns<S><<<blocks_for(threads, row_threads), row_threads, 0, stream_>>>(view, x, y);
            check_launch("csc");
        });
    }

private:
    cudaStream_t stream_;
    Csc<Value, DeviceArray> csc_;
};

template struct CudaLoop<CscLayout, CscKernel>;

}  // namespace workbench
