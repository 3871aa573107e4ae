#include "kernels/csr5/kernel.cuh"

namespace workbench {
namespace {

template <ValueType Value>
std::unique_ptr<Kernel<Value>> prepare(const Layout<Value>& layout, Device& device) {
    const auto& own = dynamic_cast<const Csr5Layout<Value>&>(layout);
    if (own.omega != csr5::lanes) {
        throw Unsuitable("tiles of " + std::to_string(own.omega) + " lanes, but a warp has 32: set omega = 32");
    }
    return std::make_unique<csr5::TilesKernel<Value>>(own, device);
}

}  // namespace

std::vector<KernelEntry> csr5_cuda_kernels() {
    return {{"tiles",
             Backend::cuda,
             "one warp per tile, each lane writes the rows that begin in it; then rows that cross tiles",
             {prepare<float>, prepare<double>}}};
}

}  // namespace workbench
