// Sliced ELL on a GPU: one thread a row. Each row of y is written by exactly one thread, so that threads cannot race in global
// memory; no shared memory is used.
#include "kernels/common/cuda_check.cuh"
#include "kernels/common/cuda_device.cuh"
#include "kernels/common/device_slices.cuh"
#include "kernels/sell/layout.hpp"

namespace workbench {
namespace {

constexpr int threads_per_block = 256;
constexpr int entries_in_flight = 4;

/// Row i is lane i % height of slice i / height. Height 0: known only when it runs.
template <int Height, typename Value>
__global__ void __launch_bounds__(threads_per_block)
    multiply(Index rows, SlicesView<Value, Index> slices, const Value* __restrict__ x, Value* __restrict__ y, bool accumulate) {
    const int height = Height == 0 ? slices.height : Height;
    const Offset row = static_cast<Offset>(blockIdx.x) * threads_per_block + threadIdx.x;
    if (row >= rows) return;
    const Value sum = slices.template multiply_lane<Height, entries_in_flight>(static_cast<Index>(row / height),
                                                                               static_cast<int>(row % height), x);
    write_result(y + row, sum, accumulate);
}

template <ValueType Value>
class SellKernel final : public Kernel<Value> {
public:
    SellKernel(const SellLayout<Value>& layout, Device& device)
        : stream_(cuda_device(device).stream()), rows_(layout.row_count), slices_(device, layout.slices, "SELL") {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (rows_ == 0) return;
        const auto kernel = slices_.view().height == 32 ? multiply<32, Value> : multiply<0, Value>;
        kernel<<<blocks_for(rows_, threads_per_block), threads_per_block, 0, stream_>>>(rows_, slices_.view(), x, y,
                                                                                        accumulate);
        check_launch("sell");
    }

private:
    cudaStream_t stream_;
    Index rows_;
    DeviceSlices<Value, Index> slices_;
};

template <ValueType Value>
std::unique_ptr<Kernel<Value>> prepare(const Layout<Value>& layout, Device& device) {
    return std::make_unique<SellKernel<Value>>(dynamic_cast<const SellLayout<Value>&>(layout), device);
}

}  // namespace

std::vector<KernelEntry> sell_cuda_kernels() {
    return {{"slices",
             Backend::cuda,
             "one thread a row, neighbouring threads read neighbouring slots",
             {prepare<float>, prepare<double>}}};
}

}  // namespace workbench
