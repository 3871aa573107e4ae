#include "kernels/device/prepare.hpp"
#include "kernels/halo/kernel.cuh"

namespace workbench {

std::vector<KernelEntry> halo_cuda_kernels() {
    return {{"parts", Backend::cuda, "one thread block per part, whose x and sums are in shared memory",
             prepare_as<halo::PartsKernel, HaloLayout>()}};
}

}  // namespace workbench
