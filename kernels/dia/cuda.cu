#include "kernels/common/schedule/device_rows.cuh"
#include "kernels/dia/layout.hpp"

namespace workbench {

std::vector<KernelEntry> dia_cuda_kernels() {
    return {device_rows<DiaLayout, DiaRows>(
        "rows", "one thread a row, neighbouring threads read neighbouring values and neighbouring x")};
}

}  // namespace workbench
