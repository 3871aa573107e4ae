#include "kernels/common/entry/cuda_loop.cuh"
#include "kernels/ehyb/kernel.cuh"

namespace workbench {
namespace {

template <bool fused, ValueType Value>
struct EhybKernel {
    static std::unique_ptr<Kernel<Value>> prepare(const EhybLayout<Value>& layout, Device& device) {
        const auto make =
            [&]<typename ColumnIndex>(const Ehyb<Value, ColumnIndex, HostArray>& own) -> std::unique_ptr<Kernel<Value>> {
            return std::make_unique<ehyb::PartitionsKernel<Value, ColumnIndex>>(own, fused, device);
        };
        return with_stored(layout, make);
    }
};

}  // namespace

template <ValueType Value>
struct EhybFused : EhybKernel<true, Value> {};
template <ValueType Value>
struct EhybTwoLaunch : EhybKernel<false, Value> {};

template struct CudaLoop<EhybLayout, EhybFused>;
template struct CudaLoop<EhybLayout, EhybTwoLaunch>;

}  // namespace workbench
