#include "kernels/ehyb/kernel.cuh"

namespace workbench {
namespace {

template <ValueType Value, bool fused>
std::unique_ptr<Kernel<Value>> prepare(const Layout<Value>& layout, Device& device) {
    return std::visit(
        [&]<typename ColumnIndex>(const Ehyb<Value, ColumnIndex, HostArray>& own) -> std::unique_ptr<Kernel<Value>> {
            return std::make_unique<ehyb::PartitionsKernel<Value, ColumnIndex>>(own, fused, device);
        },
        dynamic_cast<const EhybLayout<Value>&>(layout).stored);
}

}  // namespace

std::vector<KernelEntry> ehyb_cuda_kernels() {
    return {
        {"fused",
         Backend::cuda,
         "one launch: a block per partition, then the outside rows; an atomic swap combines a row's two shares (Algorithm 3)",
         {prepare<float, true>, prepare<double, true>}},
        {"two_launch",
         Backend::cuda,
         "one block per partition; a second launch adds the outside rows",
         {prepare<float, false>, prepare<double, false>}},
    };
}

}  // namespace workbench
