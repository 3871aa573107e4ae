// Conjugate gradients over vectors that are distributed over ranks, with one reduction over all ranks an iteration.
// Source: Chronopoulos, Gear, "s-step iterative methods for symmetric linear systems" (1989), section 3; with a preconditioner:
// D'Azevedo, Eijkhout, Romine, "Conjugate gradient algorithms with reduced synchronization overhead" (1993).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/contract/krylov.hpp"
#include "core/contract/links.hpp"
#include "core/matrix/interface.hpp"

namespace workbench {

/// A solve that starts at x = 0. All ranks make the same calls in the same order and compute bit-identical scalars, because
/// sums are f64 and are added in the order of the ranks; so all ranks stop at the same iteration.
template <ValueType Value>
class CgAcrossRanks : public Interface {
public:
    /// Restarts the method from the current x, with r = b - A x. Clears a breakdown; the iteration count continues.
    virtual void restart() = 0;

    /// Enqueues further iterations, which do nothing once the state is no longer `running`. Does not wait.
    virtual void launch(std::int64_t iterations) = 0;

    /// Waits for all launches. Returns the same on all ranks.
    [[nodiscard]] virtual KrylovProgress wait() = 0;

    [[nodiscard]] virtual std::vector<Value> x() = 0;  // this rank's part

    /// |r|_2 over all ranks before the first iteration and after each one.
    [[nodiscard]] virtual std::vector<double> history() = 0;

    /// Bytes that the vector operations of one iteration must move on this rank: each step moves each vector that it reads or
    /// writes once.
    [[nodiscard]] virtual std::int64_t vector_bytes() const = 0;

    /// Runs the reduction of one iteration, so that it can be timed, without changing the state of the solve. Does not wait.
    virtual void sum_alone() = 0;
};

/// Prepares a solve; all ranks call it. b and the inverse of the diagonal (empty: no preconditioner) hold this rank's part,
/// [rows of the rank], in the order of its products. The plan's method must be cg. `product` multiplies across all ranks and
/// may exchange halos. A rank may have no rows. The device and the links must outlive the solve.
template <ValueType Value>
[[nodiscard]] std::unique_ptr<CgAcrossRanks<Value>> make_cg_across_ranks(const KrylovPlan& plan, std::span<const Value> b,
                                                                         std::span<const Value> inverse_diagonal,
                                                                         Device& device, Links& links,
                                                                         KrylovProduct<Value> product);

}  // namespace workbench
