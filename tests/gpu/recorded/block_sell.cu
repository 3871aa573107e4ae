#include "gpu/recorded/recording.cuh"
#include "kernels/block_sell/kernel.cuh"

namespace workbench {

RecordedArrays record_block_sell(const BlockSellLayout<double>& layout, Device& device) {
    return record(block_sell::WarpsKernel<double>(layout, device), layout, device);
}

}  // namespace workbench
