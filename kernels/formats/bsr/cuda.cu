// BSR on a GPU: one group of lanes per block row. Exactly one lane writes each row of y, the first of those that share it, so
// that threads cannot race in global memory; no shared memory is used.
#include "kernels/common/entry/cuda_loop.cuh"
#include "kernels/common/entry/device_rows.cuh"
#include "kernels/formats/bsr/layout.hpp"

namespace workbench {
namespace {

constexpr int warps_per_block = row_threads / 32;

template <typename Groups, typename Arrays, typename Value>
__global__ void __launch_bounds__(row_threads)
    multiply(const __grid_constant__ Arrays bsr, const Value* __restrict__ x, Value* __restrict__ y, bool accumulate) {
    const int size = Groups::size_of(bsr);
    const int rows_at_once = Groups::rows_at_once(bsr);
    const Offset warp = static_cast<Offset>(blockIdx.x) * warps_per_block + threadIdx.x / 32;
    // Lanes without work do not return, because all lanes of a warp take part in the sums.
    const BsrPlace place = Groups::place(bsr, warp, static_cast<int>(threadIdx.x % 32));
    for (int first_row = 0; first_row < size; first_row += rows_at_once) {
        const BlockRun run = Groups::run(bsr, place, first_row);
        const Value sum = multiply_run<Groups>(bsr, run, x, StreamingLoad{});
        Value sum_of_row = sum;
        for (int distance = 1; distance < size; ++distance) sum_of_row += __shfl_down_sync(~0u, sum, distance);
        Value total = sum_of_row;
        for (int block = 1; block < bsr.lanes.blocks_at_once; ++block) {
            total += __shfl_down_sync(~0u, sum_of_row, block * rows_at_once * size);
        }
        if (run.row >= 0 && place.turn == 0 && place.c == 0) write_result(y + run.row, total, accumulate);
    }
}

template <typename Use>
void with_groups(int size, const Use& use) {
    switch (size) {
        case 2: return use(BsrGroups<2>{});
        case 3: return use(BsrGroups<3>{});
        case 4: return use(BsrGroups<4>{});
        case 5: return use(BsrGroups<5>{});
        case 6: return use(BsrGroups<6>{});
        case 8: return use(BsrGroups<8>{});
        default: return use(BsrGroups<0>{});
    }
}

}  // namespace

template <ValueType Value>
class BsrKernel final : public Kernel<Value> {
public:
    BsrKernel(const BsrLayout<Value>& layout, Device& device)
        : stream_(cuda_device(device).stream()), bsr_(copy_to(device, layout.stored(), "bsr")) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (bsr_.row_count == 0) return;
        const auto view = view_of(bsr_);
        with_groups(bsr_.block_size, [&]<typename Groups>(Groups) {
            multiply<Groups>
                <<<blocks_for(Groups::warps(view), warps_per_block), row_threads, 0, stream_>>>(view, x, y, accumulate);
        });
        check_launch("bsr");
    }

private:
    cudaStream_t stream_;
    Bsr<Value, DeviceArray> bsr_;
};

template struct CudaLoop<BsrLayout, BsrKernel>;

}  // namespace workbench
