// Conjugate gradients across ranks in one kernel on each GPU, whose thread blocks write each other's memory.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "kernels/krylov/cg_across_ranks.hpp"
#include "studies/distributed/rank_product.hpp"

namespace workbench {

template <ValueType Value>
struct PersistentAcross {
    std::unique_ptr<CgAcrossRanks<Value>> cg;  // null: not possible
    std::string reason;                        // why it is not possible, the same on all ranks
};

/// Collective. Prepares a solve as make_cg_across_ranks does, with b and the diagonal in the order of the product. Its
/// sum_alone does nothing, because its sums are part of the kernel. The plan must outlive it.
template <ValueType Value>
[[nodiscard]] PersistentAcross<Value> make_persistent_across(const KrylovPlan& krylov, std::span<const Value> b,
                                                             std::span<const Value> inverse_diagonal, const RanksPlan& plan,
                                                             const RankShares& shares, const RankProduct<Value>& product);

}  // namespace workbench
