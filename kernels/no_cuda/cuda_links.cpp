// Stands in for kernels/exchange/cuda_links.cu and kernels/krylov/cuda_cg_across_ranks.cu where CUDA is not
// built.
#include <stdexcept>

#include "core/contract/errors.hpp"
#include "kernels/exchange/make_links.hpp"
#include "kernels/krylov/cg_over_steps.hpp"

namespace workbench {

std::unique_ptr<Links> make_cuda_links(Ranks&, Device&) {
    throw MachineError("there are no GPUs to link: this program was built without CUDA");
}

template <ValueType Value>
std::unique_ptr<CgAcrossRanks<Value>> make_cuda_cg_across_ranks(const KrylovPlan&, std::span<const Value>,
                                                                std::span<const Value>, Device&, Links&, KrylovProduct<Value>) {
    throw std::logic_error("a GPU is to solve where there is no CUDA");
}

template std::unique_ptr<CgAcrossRanks<float>> make_cuda_cg_across_ranks(const KrylovPlan&, std::span<const float>,
                                                                         std::span<const float>, Device&, Links&,
                                                                         KrylovProduct<float>);
template std::unique_ptr<CgAcrossRanks<double>> make_cuda_cg_across_ranks(const KrylovPlan&, std::span<const double>,
                                                                          std::span<const double>, Device&, Links&,
                                                                          KrylovProduct<double>);

}  // namespace workbench
