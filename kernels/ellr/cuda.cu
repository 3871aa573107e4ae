#include "kernels/common/schedule/device_rows.cuh"
#include "kernels/ellr/layout.hpp"

namespace workbench {

std::vector<KernelEntry> ellr_cuda_kernels() {
    return {device_rows<EllrLayout, EllrRows>("rows", "one thread a row, which stops at the row's end")};
}

}  // namespace workbench
