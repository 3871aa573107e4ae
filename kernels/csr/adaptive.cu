#include "kernels/csr/adaptive.cuh"

namespace workbench {
namespace {

template <ValueType Value>
std::unique_ptr<Kernel<Value>> prepare(const Layout<Value>& layout, Device& device) {
    const auto& csr = dynamic_cast<const CsrLayout<Value>&>(layout);
    return with_tile_shape(csr.stored(), [&]<typename Shape>(Shape) -> std::unique_ptr<Kernel<Value>> {
        return std::make_unique<csr_adaptive::TilesKernel<Shape, Value>>(csr, device);
    });
}

}  // namespace

std::vector<KernelEntry> csr_adaptive_kernels() {
    return {{"adaptive",
             Backend::cuda,
             "tiles of neighbouring rows, a warp each, through shared memory; long rows by a warp, a block or several",
             {prepare<float>, prepare<double>}}};
}

}  // namespace workbench
