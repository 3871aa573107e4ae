// Rows of blocks on a GPU. Rows one by one: one group of lanes per block row. Exactly one lane writes each row of y, the first
// of those that share it, so that threads cannot race in global memory; no shared memory is used. Slices: kernel.cuh.
#include "kernels/common/entry/cuda_loop.cuh"
#include "kernels/common/entry/device_rows.cuh"
#include "kernels/formats/blocks/kernel.cuh"

namespace workbench {
namespace {

constexpr int warps_per_block = row_threads / 32;

template <typename Groups, typename Arrays, typename Value>
__global__ void __launch_bounds__(row_threads)
    multiply_groups(const __grid_constant__ Arrays bsr, const Value* __restrict__ x, Value* __restrict__ y, bool accumulate) {
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

template <ValueType Value>
class GroupsKernel final : public Kernel<Value> {
public:
    GroupsKernel(const Bsr<Value, HostArray>& bsr, Device& device)
        : stream_(cuda_device(device).stream()), bsr_(copy_to(device, bsr, "bsr")) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        if (bsr_.row_count == 0) return;
        const auto view = view_of(bsr_);
        const auto launch = [&](auto size) {
            using Groups = BsrGroups<size>;
            multiply_groups<Groups>
                <<<blocks_for(Groups::warps(view), warps_per_block), row_threads, 0, stream_>>>(view, x, y, accumulate);
        };
        view.block_size == 8 ? launch(Known<8>{}) : with_block_size(view, launch);
        check_launch("bsr");
    }

private:
    cudaStream_t stream_;
    Bsr<Value, DeviceArray> bsr_;
};

}  // namespace

template <ValueType Value>
struct BsrKernel {
    static std::unique_ptr<Kernel<Value>> prepare(const BsrLayout<Value>& layout, Device& device) {
        if (const auto* const bsr = std::get_if<0>(&layout.stored)) return std::make_unique<GroupsKernel<Value>>(*bsr, device);
        return prepare_device_rows<RowOfBlocks, Value, BsrLayout<Value>>(layout, {}, device);
    }
};

template <ValueType Value>
struct BlockSellWarps {
    static std::unique_ptr<Kernel<Value>> prepare(const BlockSellLayout<Value>& layout, Device& device) {
        return with_stored(layout, [&]<typename Stored>(const Stored& stored) -> std::unique_ptr<Kernel<Value>> {
            return std::make_unique<block_sell::WarpsKernel<Value, Stored>>(stored, device);
        });
    }
};

template struct CudaLoop<BsrLayout, BsrKernel>;
template struct CudaLoop<BlockSellLayout, BlockSellWarps>;

template <ValueType Value>
std::unique_ptr<Kernel<Value>> block_sell_kernel_on_gpu(BlockSellOnGpu<Value>&& stored, Device& device) {
    return with_alternative(stored, [&]<typename OnGpu>(OnGpu& sell) -> std::unique_ptr<Kernel<Value>> {
        return std::make_unique<block_sell::WarpsKernel<Value, InStorage<OnGpu, HostArray>>>(std::move(sell), device);
    });
}

template std::unique_ptr<Kernel<float>> block_sell_kernel_on_gpu(BlockSellOnGpu<float>&&, Device&);
template std::unique_ptr<Kernel<double>> block_sell_kernel_on_gpu(BlockSellOnGpu<double>&&, Device&);

}  // namespace workbench
