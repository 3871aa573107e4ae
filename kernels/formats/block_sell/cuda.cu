#include "kernels/common/entry/cuda_loop.cuh"
#include "kernels/formats/block_sell/kernel.cuh"
#include "kernels/formats/block_sell/layout.hpp"

namespace workbench {

template <ValueType Value>
struct BlockSellWarps {
    static std::unique_ptr<Kernel<Value>> prepare(const BlockSellLayout<Value>& layout, Device& device) {
        return with_stored(layout, [&]<typename Stored>(const Stored& stored) -> std::unique_ptr<Kernel<Value>> {
            return std::make_unique<block_sell::WarpsKernel<Value, Stored>>(stored, device);
        });
    }
};

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
