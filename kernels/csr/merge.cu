#include "kernels/csr/merge.cuh"
#include "kernels/device/prepare.hpp"

namespace workbench {

std::vector<KernelEntry> csr_merge_kernels() {
    return {{"merge", Backend::cuda,
             "equal shares of row ends and nonzeros (merge path), a block each; first a search for where they begin",
             prepare_as<csr_merge::SharesKernel, CsrLayout>()}};
}

}  // namespace workbench
