#include "kernels/common/schedule/device_rows.cuh"
#include "kernels/csr16/layout.hpp"

namespace workbench {

std::vector<KernelEntry> csr16_cuda_kernels() { return {device_rows<Csr16Layout, Csr16Lanes>("lanes", "eight threads a row")}; }

}  // namespace workbench
