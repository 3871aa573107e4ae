#include "kernels/common/entry/cuda_loop.cuh"
#include "kernels/formats/csr/adaptive.cuh"

namespace workbench {

template <ValueType Value>
struct CsrAdaptive {
    static std::unique_ptr<Kernel<Value>> prepare(const CsrLayout<Value>& layout, Device& device) {
        return with_stored(layout, [&]<typename Stored>(const Stored& csr) {
            return with_tile_shape(csr, [&]<typename Shape>(Shape) -> std::unique_ptr<Kernel<Value>> {
                return std::make_unique<csr_adaptive::TilesKernel<Shape, Value, Stored>>(layout, csr, device);
            });
        });
    }
};

template struct CudaLoop<CsrLayout, CsrAdaptive>;

}  // namespace workbench
