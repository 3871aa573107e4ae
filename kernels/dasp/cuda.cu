#include "kernels/dasp/kernel.cuh"

namespace workbench {
namespace {

template <bool tensor, ValueType Value>
std::unique_ptr<Kernel<Value>> prepare(const Layout<Value>& layout, Device& device) {
    const auto& own = dynamic_cast<const DaspLayout<Value>&>(layout);
    return with_dasp_shape(own, [&]<typename Shape>(Shape) -> std::unique_ptr<Kernel<Value>> {
        return std::make_unique<dasp::ClassesKernel<Shape, tensor, Value>>(own, device);
    });
}

template <bool tensor>
KernelEntry entry(std::string name, std::string summary) {
    return {std::move(name), Backend::cuda, std::move(summary), {prepare<tensor, float>, prepare<tensor, double>}};
}

}  // namespace

std::vector<KernelEntry> dasp_cuda_kernels() {
    return {
        entry<true>("tensor",
                    "blocks by class of rows; in f64 fragments and irregular entries on tensor cores, in f32 as plain"),
        entry<false>("plain", "the same with ordinary multiply-adds"),
    };
}

}  // namespace workbench
