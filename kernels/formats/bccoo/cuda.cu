#include "kernels/common/entry/cuda_loop.cuh"
#include "kernels/formats/bccoo/kernel.cuh"

namespace workbench {

template <ValueType Value>
struct bccoo::Lanes {
    static std::unique_ptr<Kernel<Value>> prepare(const BccooLayout<Value>& layout, Device& device) {
        return with_stored(layout, [&]<typename Stored>(const Stored& stored) -> std::unique_ptr<Kernel<Value>> {
            return std::make_unique<LanesKernel<Value, Stored>>(layout, stored, device);
        });
    }
};

template struct CudaLoop<BccooLayout, bccoo::Lanes>;

}  // namespace workbench
