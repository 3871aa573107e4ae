#include "gpu/recorded/recording.cuh"
#include "kernels/formats/blocks/kernel.cuh"

namespace workbench {

RecordedArrays record_block_sell(const BlockSellLayout<double>& layout, Device& device) {
    return record(block_sell::WarpsKernel<double, BlockSell<double, HostArray>>(std::get<0>(layout.stored), device), layout,
                  device);
}

}  // namespace workbench
