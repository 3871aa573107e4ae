// Iterations are launched one by one, because a loop node of a CUDA graph must not contain NCCL's work. All ranks execute every
// launch; the steps do nothing once the solve has ended.
#include "kernels/krylov/cg_over_steps.hpp"
#include "kernels/krylov/cuda_steps.cuh"

namespace workbench {
namespace {

using krylov::Scalars;

__global__ void add_up_ranks_kernel(Scalars* scalars, const double* all, int ranks) {
    Scalars next = *scalars;
    krylov::add_up_ranks(next, all, ranks);
    *scalars = next;
}

class StepsOfRank : public krylov::CudaSteps {
public:
    using CudaSteps::CudaSteps;

    [[nodiscard]] const double* own() const { return scalars()->own; }

    void add_up_ranks(const double* all, int ranks) {
        add_up_ranks_kernel<<<1, 1, 0, device().stream()>>>(scalars(), all, ranks);
        check_launch("add_up_ranks");
    }

    [[nodiscard]] static bool may_go_on() { return true; }  // the state is on the device
};

}  // namespace

template <ValueType Value>
std::unique_ptr<CgAcrossRanks<Value>> make_cuda_cg_across_ranks(const KrylovPlan& plan, std::span<const Value> b,
                                                                std::span<const Value> inverse_diagonal, Device& gpu,
                                                                Links& links, KrylovProduct<Value> product) {
    return std::make_unique<CgOverSteps<Value, StepsOfRank>>(plan, b, inverse_diagonal, cuda_device(gpu), links,
                                                             std::move(product));
}

template std::unique_ptr<CgAcrossRanks<float>> make_cuda_cg_across_ranks(const KrylovPlan&, std::span<const float>,
                                                                         std::span<const float>, Device&, Links&,
                                                                         KrylovProduct<float>);
template std::unique_ptr<CgAcrossRanks<double>> make_cuda_cg_across_ranks(const KrylovPlan&, std::span<const double>,
                                                                          std::span<const double>, Device&, Links&,
                                                                          KrylovProduct<double>);

}  // namespace workbench
