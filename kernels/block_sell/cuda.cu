// Sliced ELL of blocks on a GPU: a warp a slice, one thread a row of blocks or several of them.
//
// Races. A row of y is written by one thread, the first of those that share its row of blocks; these are lanes of one warp and
// add up by shuffles. No shared memory is used.
#include <algorithm>

#include "kernels/block_sell/layout.hpp"
#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_device.cuh"
#include "kernels/device/loads.cuh"
#include "kernels/device/prepare.hpp"
#include "kernels/device/recording.cuh"
#include "kernels/device/sparse_dot.cuh"

namespace workbench {
namespace {

constexpr int threads_of_block = 128;

/// Blocks of the matrix that a thread has under way, and blocks of threads that a multiprocessor is to hold meanwhile, which
/// leaves the registers for them: about 9 values where rows are short enough for one thread, else 18 in f64 and 27
/// in f32.
template <typename Value, int size, int threads>
struct InFlight {
    static constexpr int blocks = std::clamp((threads == 1 ? 9 : sizeof(Value) == 8 ? 18 : 27) / (size * size), 1, 8);
    static constexpr int resident = size == 6 ? 4 : threads == 1 && size <= 3 ? 8 : 5;
};

/// Adds the products of a batch of blocks: of all of them, or of those before the end of the run. Where all are there no load
/// waits behind a test.
template <typename Threads, int batch, bool all, int size, typename Value>
__device__ __forceinline__ void add_blocks(const auto& sell, const BlockSellRun& run, Index k, const Value* __restrict__ x,
                                           const auto& load, Value (&sums)[size]) {
    Index column[batch];
    Value value[batch][size * size];
#pragma unroll
    for (int u = 0; u < batch; ++u) {
        if (all || k + u < run.count) column[u] = Threads::column(sell, run, k + u, load);
    }
#pragma unroll
    for (int u = 0; u < batch; ++u) {
        if (!all && k + u >= run.count) continue;
#pragma unroll
        for (int j = 0; j < size * size; ++j) value[u][j] = load(sell.values.data() + Threads::value(sell, run, k + u, j));
    }
#pragma unroll
    for (int u = 0; u < batch; ++u) {
        if (!all && k + u >= run.count) continue;
        Value of_x[size];
#pragma unroll
        for (int c = 0; c < size; ++c) of_x[c] = column[u] + c < sell.column_count ? x[column[u] + c] : 0;
#pragma unroll
        for (int j = 0; j < size * size; ++j) sums[j / size] += value[u][j] * of_x[j % size];
    }
}

template <int size, int threads, ColumnKind kind, typename Arrays, typename Value, typename Load>
__global__ void __launch_bounds__(threads_of_block, InFlight<Value, size, threads>::resident)
    multiply(const __grid_constant__ Arrays sell, const Value* __restrict__ x, Value* __restrict__ y, bool accumulate,
             Load load) {
    using Threads = BlockSellThreads<size, threads, kind>;
    const BlockSellRun run = Threads::run(sell, static_cast<Offset>(blockIdx.x) * threads_of_block + threadIdx.x);
    Value sums[size] = {};
    constexpr int batch = InFlight<Value, size, threads>::blocks;
    Index k = 0;
    for (; k + batch <= run.count; k += batch) add_blocks<Threads, batch, true>(sell, run, k, x, load, sums);
    if constexpr (batch > 1) {
        if (k < run.count) add_blocks<Threads, batch - 1, false>(sell, run, k, x, load, sums);
    }
#pragma unroll
    for (int r = 0; r < size; ++r) {
#pragma unroll
        for (int distance = 16; distance >= 32 / threads; distance /= 2) sums[r] += __shfl_down_sync(~0u, sums[r], distance);
    }
    if (run.block_row < 0 || run.turn != 0) return;
    const Offset row = run.block_row * size;
#pragma unroll
    for (int r = 0; r < size; ++r) {
        if (row + r < sell.row_count) write_result(y + row + r, sums[r], accumulate);
    }
}

/// Calls use(Known size, Known threads, Known kind of columns).
void with_shape(const auto& sell, const auto& use) {
    const auto with_size = [&](auto size, auto kind) {
        switch (sell.threads_per_row) {
            case 1: return use(size, Known<1>{}, kind);
            case 2: return use(size, Known<2>{}, kind);
            default: return use(size, Known<4>{}, kind);
        }
    };
    with_column_kind(sell, [&](auto kind) {
        switch (sell.block_size) {
            case 1: return with_size(Known<1>{}, kind);
            case 2: return with_size(Known<2>{}, kind);
            case 3: return with_size(Known<3>{}, kind);
            case 4: return with_size(Known<4>{}, kind);
            default: return with_size(Known<6>{}, kind);
        }
    });
}

template <ValueType Value>
class BlockSellKernel final : public Kernel<Value> {
public:
    BlockSellKernel(const BlockSellLayout<Value>& layout, Device& device)
        : stream_(cuda_device(device).stream()), sell_(copy_to(device, layout.stored(), "block_sell")) {}

    void run(const Value* x, Value* y, bool accumulate) override { multiply_with(StreamingLoad{}, x, y, accumulate); }

    void multiply_with(const auto& load, const Value* x, Value* y, bool accumulate) {
        const auto view = view_of(sell_);
        if (view.slice_count() <= 0) return;
        const unsigned blocks = blocks_for(view.slice_count() * 32, threads_of_block);
        with_shape(view, [&](auto size, auto threads, auto kind) {
            multiply<size, threads, kind><<<blocks, threads_of_block, 0, stream_>>>(view, x, y, accumulate, load);
        });
        check_launch("block_sell");
    }

    [[nodiscard]] const BlockSell<Value, DeviceArray>& stored() const { return sell_; }

private:
    cudaStream_t stream_;
    BlockSell<Value, DeviceArray> sell_;
};

}  // namespace

std::vector<KernelEntry> block_sell_cuda_kernels() {
    return {{"warps", Backend::cuda, "a warp a slice, threads_per_row threads a row of blocks",
             prepare_as<BlockSellKernel, BlockSellLayout>()}};
}

std::vector<Recorded> record_block_sell_reads(const BlockSellLayout<double>& layout, Device& device) {
    BlockSellKernel<double> sell(layout, device);
    const DeviceArray<double> x(device, std::vector<double>(layout.column_count), "x");
    const DeviceMemory y = device.allocate(static_cast<std::size_t>(layout.row_count) * sizeof(double), "y");
    const Offset threads = sell.stored().slice_count() * 32;
    Recording recording(device, sell.stored().values, (threads + threads_of_block - 1) / threads_of_block * threads_of_block);
    sell.multiply_with(recording.load(), x.data(), y.as<double>(), false);
    return recording.read();
}

}  // namespace workbench
