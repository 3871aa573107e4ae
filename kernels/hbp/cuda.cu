#include "kernels/hbp/kernel.cuh"

namespace workbench {
namespace {

using hbp::Allocation;

template <ValueType Value, Allocation allocation>
std::unique_ptr<Kernel<Value>> prepare(const Layout<Value>& layout, Device& device) {
    const auto& own = dynamic_cast<const HbpLayout<Value>&>(layout);
    return std::visit(
        [&]<typename ColumnIndex>(const Hbp<Value, ColumnIndex, HostArray>& stored) -> std::unique_ptr<Kernel<Value>> {
            return std::make_unique<hbp::ChunksKernel<Value, ColumnIndex, allocation>>(own, stored, device);
        },
        own.stored);
}

template <Allocation allocation>
ForEachPrecision<PrepareKernel> both() {
    return {prepare<float, allocation>, prepare<double, allocation>};
}

}  // namespace

std::vector<KernelEntry> hbp_cuda_kernels() {
    return {
        {"fixed", Backend::cuda, "chunks distributed to warps in advance, by their entries; then partial results merged",
         both<Allocation::fixed>()},
        {"competitive", Backend::cuda, "chunks claimed by the warps from a counter; then partial results merged",
         both<Allocation::competitive>()},
        {"mixed", Backend::cuda, "fixed_share of the chunks distributed, the rest claimed (the paper's mixed execution)",
         both<Allocation::mixed>()},
    };
}

}  // namespace workbench
