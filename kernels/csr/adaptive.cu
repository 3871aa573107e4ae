#include "kernels/common/entry/cuda_loop.cuh"
#include "kernels/csr/adaptive.cuh"

namespace workbench {

template <ValueType Value>
struct CsrAdaptive {
    static std::unique_ptr<Kernel<Value>> prepare(const CsrLayout<Value>& layout, Device& device) {
        return with_tile_shape(layout.stored(), [&]<typename Shape>(Shape) -> std::unique_ptr<Kernel<Value>> {
            return std::make_unique<csr_adaptive::TilesKernel<Shape, Value>>(layout, device);
        });
    }
};

template struct CudaLoop<CsrLayout, CsrAdaptive>;

}  // namespace workbench
