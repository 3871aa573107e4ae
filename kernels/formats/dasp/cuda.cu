#include "kernels/common/entry/cuda_loop.cuh"
#include "kernels/formats/dasp/kernel.cuh"

namespace workbench {
namespace {

template <bool tensor, ValueType Value>
struct DaspKernel {
    static std::unique_ptr<Kernel<Value>> prepare(const DaspLayout<Value>& layout, Device& device) {
        return with_dasp_shape(layout, [&]<typename Shape>(Shape) -> std::unique_ptr<Kernel<Value>> {
            return std::make_unique<dasp::ClassesKernel<Shape, tensor, Value>>(layout, device);
        });
    }
};

}  // namespace

template <ValueType Value>
struct DaspTensor : DaspKernel<true, Value> {};
template <ValueType Value>
struct DaspPlain : DaspKernel<false, Value> {};

template struct CudaLoop<DaspLayout, DaspTensor>;
template struct CudaLoop<DaspLayout, DaspPlain>;

}  // namespace workbench
