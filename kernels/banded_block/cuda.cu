#include "kernels/banded_block/layout.hpp"
#include "kernels/common/schedule/device_rows.cuh"

namespace workbench {

std::vector<KernelEntry> banded_block_cuda_kernels() {
    return {device_rows<BandedBlockLayout, BandRow>(
        "rows", "one thread a row, the threads of a block row read neighbouring values and the same x")};
}

}  // namespace workbench
