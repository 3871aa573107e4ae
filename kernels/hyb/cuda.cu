// HYB on a GPU: ELL with a thread a row, then the rest with a thread a nonzero, one after the other on one stream. In the first
// kernel each row of y belongs to one thread; the second, which begins when the first has ended, adds atomically. So threads
// cannot race in global memory; no shared memory is used. Rows that ELL does not have are zeroed before, on the same stream.
#include "kernels/common/device/cuda_check.cuh"
#include "kernels/common/device/cuda_device.cuh"
#include "kernels/common/storage/device_ell.cuh"
#include "kernels/common/storage/device_triplets.cuh"
#include "kernels/hyb/layout.hpp"

namespace workbench {
namespace {

constexpr int threads_per_block = 256;
constexpr int entries_in_flight = 4;

/// The row at place i is rows[i], or i itself where there is no list.
template <typename Value>
__global__ void __launch_bounds__(threads_per_block)
    multiply_first(EllView<Value> first, const Index* __restrict__ rows, const Value* __restrict__ x, Value* __restrict__ y,
                   bool accumulate) {
    const Offset place = static_cast<Offset>(blockIdx.x) * threads_per_block + threadIdx.x;
    if (place >= first.row_count) return;
    const Offset row = rows == nullptr ? place : rows[place];
    write_result(y + row, first.template multiply<entries_in_flight>(place, 0, 1, x), accumulate);
}

template <ValueType Value>
class HybKernel final : public Kernel<Value> {
public:
    HybKernel(const HybLayout<Value>& layout, Device& device, triplets::Add<Value> add_rest)
        : stream_(cuda_device(device).stream()),
          add_rest_(add_rest),
          rows_(layout.row_count),
          first_has_all_rows_(layout.first_has_all_rows()),
          first_(device, layout.first, "HYB first"),
          first_rows_(to_device(device, std::span(layout.first_rows), "HYB rows of first")),
          rest_(device, layout.rest, "HYB rest") {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (rows_ == 0) return;
        if (!accumulate && !first_has_all_rows_) zero_result(y, rows_, stream_);
        const EllView<Value> first = first_.view();
        if (first.row_count > 0) {
            multiply_first<<<blocks_for(first.row_count, threads_per_block), threads_per_block, 0, stream_>>>(
                first, first_rows_.as<Index>(), x, y, accumulate);
            check_launch("hyb first");
        }
        triplets::launch(add_rest_, rest_.view(), x, y, stream_);
    }

private:
    cudaStream_t stream_;
    triplets::Add<Value> add_rest_;
    Index rows_;
    bool first_has_all_rows_;
    DeviceEll<Value> first_;
    DeviceMemory first_rows_;
    DeviceTriplets<Value> rest_;
};

template <ValueType Value>
std::unique_ptr<Kernel<Value>> prepare_atomic(const Layout<Value>& layout, Device& device) {
    return std::make_unique<HybKernel<Value>>(dynamic_cast<const HybLayout<Value>&>(layout), device, triplets::add_each<Value>);
}

template <ValueType Value>
std::unique_ptr<Kernel<Value>> prepare_segmented(const Layout<Value>& layout, Device& device) {
    return std::make_unique<HybKernel<Value>>(dynamic_cast<const HybLayout<Value>&>(layout), device, triplets::add_runs<Value>);
}

}  // namespace

std::vector<KernelEntry> hyb_cuda_kernels() {
    return {
        {"segmented",
         Backend::cuda,
         "one thread a row, then one thread a nonzero of the rest; a warp sums each row that it holds before it adds",
         {prepare_segmented<float>, prepare_segmented<double>}},
        {"atomic",
         Backend::cuda,
         "one thread a row, then one thread a nonzero of the rest, which adds atomically",
         {prepare_atomic<float>, prepare_atomic<double>}},
    };
}

}  // namespace workbench
