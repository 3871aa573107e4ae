#include "kernels/common/entry/cuda_loop.cuh"
#include "kernels/formats/hbp/kernel.cuh"

namespace workbench {
namespace {

using hbp::Allocation;

template <Allocation allocation, ValueType Value>
struct HbpKernel {
    static std::unique_ptr<Kernel<Value>> prepare(const HbpLayout<Value>& layout, Device& device) {
        const auto make =
            [&]<typename ColumnIndex>(const Hbp<Value, ColumnIndex, HostArray>& own) -> std::unique_ptr<Kernel<Value>> {
            return std::make_unique<hbp::ChunksKernel<Value, ColumnIndex, allocation>>(layout, own, device);
        };
        return with_stored(layout, make);
    }
};

}  // namespace

template <ValueType Value>
struct HbpFixed : HbpKernel<Allocation::fixed, Value> {};
template <ValueType Value>
struct HbpCompetitive : HbpKernel<Allocation::competitive, Value> {};
template <ValueType Value>
struct HbpMixed : HbpKernel<Allocation::mixed, Value> {};

template struct CudaLoop<HbpLayout, HbpFixed>;
template struct CudaLoop<HbpLayout, HbpCompetitive>;
template struct CudaLoop<HbpLayout, HbpMixed>;

template <ValueType Value, typename ColumnIndex>
std::unique_ptr<Kernel<Value>> hbp_kernel_on_gpu(Hbp<Value, ColumnIndex, DeviceArray>&& hbp,
                                                 const HostArray<Offset>& first_entries, const HbpProduct& product,
                                                 Device& device) {
    return std::make_unique<hbp::ChunksKernel<Value, ColumnIndex, Allocation::fixed>>(std::move(hbp), first_entries, product,
                                                                                      device);
}

template std::unique_ptr<Kernel<float>> hbp_kernel_on_gpu(Hbp<float, Index, DeviceArray>&&, const HostArray<Offset>&,
                                                          const HbpProduct&, Device&);
template std::unique_ptr<Kernel<float>> hbp_kernel_on_gpu(Hbp<float, std::uint16_t, DeviceArray>&&, const HostArray<Offset>&,
                                                          const HbpProduct&, Device&);
template std::unique_ptr<Kernel<double>> hbp_kernel_on_gpu(Hbp<double, Index, DeviceArray>&&, const HostArray<Offset>&,
                                                           const HbpProduct&, Device&);
template std::unique_ptr<Kernel<double>> hbp_kernel_on_gpu(Hbp<double, std::uint16_t, DeviceArray>&&, const HostArray<Offset>&,
                                                           const HbpProduct&, Device&);

}  // namespace workbench
