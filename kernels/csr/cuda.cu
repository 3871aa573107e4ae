#include "kernels/common/schedule/device_rows.cuh"
#include "kernels/csr/layout.hpp"

namespace workbench {

std::vector<KernelEntry> csr_cuda_kernels() {
    return {device_rows<CsrLayout, CsrVector>("vector", "2 to 32 threads a row, by the mean row length"),
            device_rows<CsrLayout, CompressedRows<1>>("scalar", "one thread a row")};
}

}  // namespace workbench
