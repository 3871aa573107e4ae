// BiELL and BiJAD on a GPU: a strip has as many lanes of a warp as rows. Exactly one thread writes each row of y, so that
// threads cannot race in global memory; no shared memory is used: lanes exchange their sums by shuffles.
#include "kernels/common/entry/cuda_loop.cuh"
#include "kernels/common/entry/device_rows.cuh"
#include "kernels/formats/biell/layout.hpp"

namespace workbench {
namespace {

/// The last group of a strip first, in which all lanes share the longest row. In each following group a row has half as many
/// lanes, and the sums of two lanes go to the one that keeps the row.
template <int height, typename Arrays, typename Value>
__global__ void __launch_bounds__(row_threads) multiply(const __grid_constant__ Arrays biell, TargetRows target,
                                                        const Value* __restrict__ x, Value* __restrict__ y, bool accumulate) {
    using Lanes = BiellLanes<height>;
    const Offset row = static_cast<Offset>(blockIdx.x) * row_threads + threadIdx.x;
    const int lane = static_cast<int>(threadIdx.x) % height;
    const bool strip_exists = row - lane < biell.row_count;  // a lane without a row may help those that have one

    Offset offsets[Lanes::groups + 1];
#pragma unroll
    for (int group = 0; group <= Lanes::groups; ++group) {
        offsets[group] = strip_exists ? biell.group_offsets[Lanes::first_group(row) + group] : 0;
    }
    Value sum = 0;
#pragma unroll
    for (int group = Lanes::groups - 1; group >= 0; --group) {
        const auto run = Lanes::run(biell, row, group, offsets[group], offsets[group + 1]);
        sum += multiply_run<Lanes>(biell, run, x, StreamingLoad{});
        if (group > 0) {
            const int rows_of_group = height >> group;
            const Value other_share = __shfl_xor_sync(~0u, sum, rows_of_group);
            sum = (lane & rows_of_group) == 0 ? sum + other_share : Value{0};
        }
    }
    if (row < biell.row_count) write_result(y + target[static_cast<Index>(row)], sum, accumulate);
}

}  // namespace

template <ValueType Value>
class BiellKernel final : public Kernel<Value> {
public:
    BiellKernel(const BiellLayout<Value>& layout, std::span<const Index> rows, Device& device)
        : stream_(cuda_device(device).stream()),
          biell_(copy_to(device, layout.stored(), "biell")),
          rows_(device, rows, "biell") {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (biell_.row_count == 0) return;
        // The heights that the layout declares: powers of two from 2 to 32.
        with_lanes<2>(biell_.strip_height, [&](auto height) {
            multiply<height><<<blocks_for(biell_.row_count, row_threads), row_threads, 0, stream_>>>(
                view_of(biell_), rows_.view(), x, y, accumulate);
        });
        check_launch("biell");
    }

private:
    cudaStream_t stream_;
    Biell<Value, DeviceArray> biell_;
    OwnedTargetRows rows_;
};

template struct CudaLoop<BiellLayout, BiellKernel>;

}  // namespace workbench
