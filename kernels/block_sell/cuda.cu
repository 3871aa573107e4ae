#include "kernels/block_sell/kernel.cuh"
#include "kernels/common/entry/cuda_loop.cuh"

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

}  // namespace workbench
