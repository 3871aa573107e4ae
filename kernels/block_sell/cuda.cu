#include "kernels/block_sell/kernel.cuh"
#include "kernels/device/prepare.hpp"

namespace workbench {

std::vector<KernelEntry> block_sell_cuda_kernels() {
    return {{"warps", Backend::cuda, "one warp per slice, threads_per_row threads per block row",
             prepare_as<block_sell::WarpsKernel, BlockSellLayout>()}};
}

}  // namespace workbench
