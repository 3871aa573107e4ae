#include "kernels/common/entry/cuda_loop.cuh"
#include "kernels/formats/ehyb/kernel.cuh"
#include "kernels/formats/ehyb/layout.hpp"

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

template <ValueType Value, typename ColumnIndex>
std::unique_ptr<Kernel<Value>> ehyb_kernel_on_gpu(Ehyb<Value, ColumnIndex, DeviceArray>&& ehyb,
                                                  DeviceArray<std::uint32_t>&& rows_outside, std::span<const Index> partition,
                                                  std::span<const Index> first_slices, Device& device) {
    return std::make_unique<ehyb::PartitionsKernel<Value, ColumnIndex>>(std::move(ehyb), std::move(rows_outside), partition,
                                                                        first_slices, device);
}

template std::unique_ptr<Kernel<float>> ehyb_kernel_on_gpu(Ehyb<float, std::uint16_t, DeviceArray>&&,
                                                           DeviceArray<std::uint32_t>&&, std::span<const Index>,
                                                           std::span<const Index>, Device&);
template std::unique_ptr<Kernel<float>> ehyb_kernel_on_gpu(Ehyb<float, Index, DeviceArray>&&, DeviceArray<std::uint32_t>&&,
                                                           std::span<const Index>, std::span<const Index>, Device&);
template std::unique_ptr<Kernel<double>> ehyb_kernel_on_gpu(Ehyb<double, std::uint16_t, DeviceArray>&&,
                                                            DeviceArray<std::uint32_t>&&, std::span<const Index>,
                                                            std::span<const Index>, Device&);
template std::unique_ptr<Kernel<double>> ehyb_kernel_on_gpu(Ehyb<double, Index, DeviceArray>&&, DeviceArray<std::uint32_t>&&,
                                                            std::span<const Index>, std::span<const Index>, Device&);

}  // namespace workbench
