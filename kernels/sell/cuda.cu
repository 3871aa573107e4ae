#include "kernels/common/schedule/device_rows.cuh"
#include "kernels/sell/layout.hpp"

namespace workbench {

std::vector<KernelEntry> sell_cuda_kernels() {
    return {device_rows<SellLayout, SellThreads>(
        "slices", "one thread a row, or threads_per_row; in each step neighbouring threads read neighbouring slots")};
}

}  // namespace workbench
