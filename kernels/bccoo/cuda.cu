#include "kernels/bccoo/kernel.cuh"
#include "kernels/device/prepare.hpp"

namespace workbench {

std::vector<KernelEntry> bccoo_cuda_kernels() {
    return {{"lanes", Backend::cuda, "a lane a run of blocks; segmented sums join what the lanes leave open",
             prepare_as<bccoo::LanesKernel, BccooLayout>()}};
}

}  // namespace workbench
