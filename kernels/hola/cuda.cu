#include "kernels/device/prepare.hpp"
#include "kernels/hola/kernel.cuh"

namespace workbench {

std::vector<KernelEntry> hola_cuda_kernels() {
    return {{"shares", Backend::cuda,
             "a block an equal share of the nonzeros, summed up by lanes or by segments as rows ask for",
             prepare_as<hola::SharesKernel, HolaLayout>()}};
}

}  // namespace workbench
