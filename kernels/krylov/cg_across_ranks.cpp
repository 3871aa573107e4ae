#include "kernels/krylov/cg_across_ranks.hpp"

#include "kernels/krylov/cg_over_steps.hpp"
#include "kernels/krylov/host_steps.hpp"

namespace workbench {

template <ValueType Value>
std::unique_ptr<CgAcrossRanks<Value>> make_cg_across_ranks(const KrylovPlan& plan, std::span<const Value> b,
                                                           std::span<const Value> inverse_diagonal, Device& device,
                                                           Links& links, KrylovProduct<Value> product) {
    if (device.properties().kind == DeviceKind::gpu) {
        return make_cuda_cg_across_ranks(plan, b, inverse_diagonal, device, links, std::move(product));
    }
    return std::make_unique<CgOverSteps<Value, krylov::HostSteps>>(plan, b, inverse_diagonal, device, links,
                                                                   std::move(product));
}

template std::unique_ptr<CgAcrossRanks<float>> make_cg_across_ranks(const KrylovPlan&, std::span<const float>,
                                                                    std::span<const float>, Device&, Links&,
                                                                    KrylovProduct<float>);
template std::unique_ptr<CgAcrossRanks<double>> make_cg_across_ranks(const KrylovPlan&, std::span<const double>,
                                                                     std::span<const double>, Device&, Links&,
                                                                     KrylovProduct<double>);

}  // namespace workbench
