// Sliced ELL on a GPU: one thread a row, or several of one warp. Each row of y is written by exactly one thread, so that
// threads cannot race in global memory; no shared memory is used.
#include "kernels/common/device/cuda_check.cuh"
#include "kernels/common/device/cuda_device.cuh"
#include "kernels/common/device/lanes.hpp"
#include "kernels/common/device/prepare.hpp"
#include "kernels/common/storage/device_slices.cuh"
#include "kernels/sell/layout.hpp"

namespace workbench {
namespace {

constexpr int warp_size = 32;
constexpr int threads_per_block = 256;
constexpr int entries_in_flight = 4;

/// Row i is lane i % height of slice i / height; a warp has warp_size / Threads rows. Thread t of a row takes its entries t,
/// t + Threads, ... and lies t times the rows of a warp after the first: with as many rows in a slice, a warp reads
/// neighbouring slots. Height 0: known only when it runs.
template <int Threads, int Height, typename Value>
__global__ void __launch_bounds__(threads_per_block)
    multiply(Index rows, SlicesView<Value, Index> slices, const Value* __restrict__ x, Value* __restrict__ y, bool accumulate) {
    constexpr int rows_of_warp = warp_size / Threads;
    const unsigned height = Height == 0 ? slices.height : Height;
    const Offset thread = static_cast<Offset>(blockIdx.x) * threads_per_block + threadIdx.x;
    const int place = static_cast<int>(threadIdx.x) % warp_size;
    const Offset row = thread / warp_size * rows_of_warp + place % rows_of_warp;
    Value sum = 0;
    if (row < rows) {
        const auto known = static_cast<unsigned>(row);
        sum = slices.template multiply_share<Height, Threads, entries_in_flight>(
            static_cast<Index>(known / height), static_cast<int>(known % height), place / rows_of_warp, x);
    }
    // Outside the branch: all threads of a warp take part, those past the last row too.
#pragma unroll
    for (int distance = warp_size / 2; distance >= rows_of_warp; distance /= 2) {
        sum += __shfl_down_sync(~0u, sum, distance);
    }
    if (place < rows_of_warp && row < rows) write_result(y + row, sum, accumulate);
}

template <typename Value>
using Multiply = void (*)(Index, SlicesView<Value, Index>, const Value*, Value*, bool);

/// For slices of as many rows as a warp has, of 32 rows, or of any number.
template <int Threads, typename Value>
Multiply<Value> multiply_with(int height) {
    constexpr int rows_of_warp = warp_size / Threads;
    if (height == rows_of_warp) return multiply<Threads, rows_of_warp, Value>;
    return height == warp_size ? multiply<Threads, warp_size, Value> : multiply<Threads, 0, Value>;
}

template <typename Value>
Multiply<Value> multiply_for(int threads, int height) {
    return with_lanes<1>(threads, [=](auto known) { return multiply_with<known, Value>(height); });
}

template <ValueType Value>
class SellKernel final : public Kernel<Value> {
public:
    SellKernel(const SellLayout<Value>& layout, Device& device)
        : stream_(cuda_device(device).stream()),
          rows_(layout.row_count),
          threads_(layout.threads_per_row),
          multiply_(multiply_for<Value>(layout.threads_per_row, layout.slices.slice_height)),
          slices_(device, layout.slices, "SELL") {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (rows_ == 0) return;
        // Whole warps: with several threads a row the last of them has rows that do not exist.
        const Offset warps = (Offset{rows_} * threads_ + warp_size - 1) / warp_size;
        multiply_<<<blocks_for(warps * warp_size, threads_per_block), threads_per_block, 0, stream_>>>(rows_, slices_.view(), x,
                                                                                                       y, accumulate);
        check_launch("sell");
    }

private:
    cudaStream_t stream_;
    Index rows_;
    Index threads_;
    Multiply<Value> multiply_;
    DeviceSlices<Value, Index> slices_;
};

}  // namespace

std::vector<KernelEntry> sell_cuda_kernels() {
    return {{"slices", Backend::cuda,
             "one thread a row, or threads_per_row; in each step neighbouring threads read neighbouring slots",
             prepare_as<SellKernel, SellLayout>}};
}

}  // namespace workbench
