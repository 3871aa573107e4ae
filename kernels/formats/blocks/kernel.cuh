// Sliced ELL of blocks on a GPU: each warp takes a slice, one or several of its threads a row of blocks.
//
// Races: the first of the threads that share a row of blocks writes its rows of y. They are lanes of one warp, which add up by
// shuffles without shared memory.
#pragma once

#include <algorithm>

#include "kernels/common/device_code/loads.cuh"
#include "kernels/common/device_code/sparse_dot.cuh"
#include "kernels/common/entry/run_time_kernel.hpp"
#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_device.cuh"
#include "kernels/device/tuned.hpp"
#include "kernels/formats/blocks/layout.hpp"

namespace workbench::block_sell {

constexpr int threads_of_block = 128;

/// The matrix blocks that a thread has in flight: about 9 values if a row has one thread, otherwise 18 in f64 and 27 in f32.
template <typename Arrays, typename Value, int size, int threads>
constexpr int blocks_in_flight() {
    if constexpr (Arrays::has_codes) return tuned::block_sell_codes(size);
    return std::clamp((threads == 1 ? tuned::block_sell_values : tuned::block_sell_values_of_several<Value>) / (size * size), 1,
                      8);
}

/// Adds the products of a batch of blocks: all of them, whose loads then need no tests, or those before the end of the run.
/// x is loaded before the dictionary, which is read through L1: in a structured mesh the lanes of a warp mostly have the same
/// block, whose values are then one broadcast.
template <typename Threads, int batch, bool all, int size, typename Value, typename Arrays>
__device__ __forceinline__ void add_blocks(const Arrays& sell, const auto& run, Index k, const Value* __restrict__ x,
                                           const auto& load, Value (&sums)[size]) {
    constexpr int area = size * size;
    constexpr bool has_codes = Arrays::has_codes;
    Index column[batch];
    int place[batch];
    Value loaded[batch][has_codes ? size : area];  // of x, or of the matrix
    const auto load_x = [&](int u, Value(&of_x)[size]) {
#pragma unroll
        for (int c = 0; c < size; ++c) of_x[c] = column[u] + c < sell.column_count ? x[column[u] + c] : 0;
    };
#pragma unroll
    for (int u = 0; u < batch; ++u) {
        if (!all && k + u >= run.count) continue;
        column[u] = Threads::column(sell, run, k + u, load);
        if constexpr (has_codes) place[u] = area * static_cast<int>(load(sell.values.codes.data() + run.block(k + u)));
    }
#pragma unroll
    for (int u = 0; u < batch; ++u) {
        if (!all && k + u >= run.count) continue;
        if constexpr (has_codes) {
            load_x(u, loaded[u]);
        } else {
#pragma unroll
            for (int j = 0; j < area; ++j) loaded[u][j] = load(sell.values.data() + Threads::value(sell, run, k + u, j));
        }
    }
#pragma unroll
    for (int u = 0; u < batch; ++u) {
        if (!all && k + u >= run.count) continue;
        if constexpr (has_codes) {
            const Value* const block = sell.values.dictionary.data() + place[u];
#pragma unroll
            for (int j = 0; j < area; ++j) sums[j / size] += load.kept(block + j) * loaded[u][j % size];
        } else {
            Value of_x[size];
            load_x(u, of_x);
#pragma unroll
            for (int j = 0; j < area; ++j) sums[j / size] += loaded[u][j] * of_x[j % size];
        }
    }
}

/// Threads: BlockSellThreads of a known size and number. The thread blocks that a multiprocessor holds bound the registers.
template <typename Threads, typename Arrays, typename Value, typename Load>
__global__ void __launch_bounds__(threads_of_block,
                                  tuned::block_sell_resident_blocks(Threads::known_size, Threads::known_threads))
    multiply_slices(const __grid_constant__ Arrays sell, const Value* __restrict__ x, Value* __restrict__ y, bool accumulate,
                    Load load) {
    constexpr int size = Threads::known_size;
    constexpr int threads = Threads::known_threads;
    constexpr int batch = blocks_in_flight<Arrays, Value, size, threads>();
    const auto run = Threads::run(sell, static_cast<Offset>(blockIdx.x) * threads_of_block + threadIdx.x);
    Value sums[size] = {};
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

#ifndef __CUDACC_RTC__  // NVRTC compiles the kernels from what is above

/// Calls use(Known size, Known threads, Known kind of columns). Codes of blocks have one thread a row.
template <typename Arrays>
void with_shape(const Arrays& sell, const auto& use) {
    with_column_kind(sell, [&](auto kind) {
        with_block_size(sell, [&](auto size) {
            if constexpr (Arrays::has_codes) {
                use(size, Known<1>{}, kind);
            } else {
                with_known<1, 2, 4>(sell.threads_per_row, [&](auto threads) { use(size, threads, kind); });
            }
        });
    });
}

template <ValueType Value, typename Stored>
class WarpsKernel final : public Kernel<Value> {
public:
    WarpsKernel(const Stored& stored, Device& device) : WarpsKernel(copy_to(device, stored, "block_sell"), device) {}
    /// With arrays that are on the GPU.
    WarpsKernel(InStorage<Stored, DeviceArray>&& sell, Device& device)
        : stream_(cuda_device(device).stream()), sell_(std::move(sell)) {
        if constexpr (!is_compiled_in) {
            with_shape(view_of(sell_), [&](auto size, auto threads, auto kind) {
                using Threads = BlockSellThreads<size, threads, kind>;
                loop_.emplace("blocks/kernel.cuh",
                              with_types<Threads, Arrays, Value, StreamingLoad>("block_sell::multiply_slices") + ">", device);
            });
        }
    }

    void run(const Value* x, Value* y, bool accumulate) override { multiply(StreamingLoad{}, x, y, accumulate); }

    void multiply(const auto& load, const Value* x, Value* y, bool accumulate) const {
        const auto view = view_of(sell_);
        if (view.slice_count() <= 0) return;
        const unsigned blocks = blocks_for(view.slice_count() * 32, threads_of_block);
        if constexpr (is_compiled_in) {
            with_shape(view, [&](auto size, auto threads, auto kind) {
                multiply_slices<BlockSellThreads<size, threads, kind>>
                    <<<blocks, threads_of_block, 0, stream_>>>(view, x, y, accumulate, load);
            });
            check_launch("block_sell");
        } else {
            loop_->launch(blocks, threads_of_block, 0, view, x, y, accumulate, load);
        }
    }

    [[nodiscard]] const auto& stored() const { return sell_; }
    [[nodiscard]] Offset launched_threads() const { return sell_.slice_count() * 32 + threads_of_block; }

private:
    using Arrays = InStorage<Stored, ArrayView>;
    static constexpr bool is_compiled_in = HasFullValues<Arrays, Value>;

    cudaStream_t stream_;
    InStorage<Stored, DeviceArray> sell_;
    std::optional<RunTimeLoop> loop_;
};

#endif

}  // namespace workbench::block_sell
