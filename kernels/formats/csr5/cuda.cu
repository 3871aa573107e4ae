#include "kernels/common/entry/cuda_loop.cuh"
#include "kernels/formats/csr5/kernel.cuh"

namespace workbench {

template <ValueType Value>
struct Csr5Kernel {
    static std::unique_ptr<Kernel<Value>> prepare(const Csr5Layout<Value>& layout, Device& device) {
        return with_stored(layout, [&]<typename Stored>(const Stored& stored) -> std::unique_ptr<Kernel<Value>> {
            if (stored.omega != csr5::lanes) {
                throw Unsuitable("tiles of " + std::to_string(stored.omega) + " lanes, but a warp has 32: set omega = 32");
            }
            return std::make_unique<csr5::Csr5TilesKernel<Value, Stored>>(layout, stored, device);
        });
    }
};

template struct CudaLoop<Csr5Layout, Csr5Kernel>;

}  // namespace workbench
