#include "kernels/common/entry/cuda_loop.cuh"
#include "kernels/formats/hola/kernel.cuh"

namespace workbench {

template <ValueType Value>
struct hola::Shares {
    static std::unique_ptr<Kernel<Value>> prepare(const HolaLayout<Value>& layout, Device& device) {
        return with_stored(layout, [&]<typename Stored>(const Stored& stored) -> std::unique_ptr<Kernel<Value>> {
            return std::make_unique<HolaKernel<Value, Stored>>(layout, stored, device);
        });
    }
};

template struct CudaLoop<HolaLayout, hola::Shares>;

}  // namespace workbench
