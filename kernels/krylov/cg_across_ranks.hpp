// Conjugate gradients over vectors that several ranks have a part of, with one sum over all ranks an iteration.
// Source: Chronopoulos, Gear, "s-step iterative methods for symmetric linear systems" (1989), section 3; with a preconditioner:
// D'Azevedo, Eijkhout, Romine, "Conjugate gradient algorithms with reduced synchronization overhead" (1993).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "pipeline/contract/krylov.hpp"
#include "pipeline/contract/links.hpp"

namespace workbench {

/// A solve with x = 0 to begin with. All ranks call the same, in the same order, and find the same scalars in every bit, so
/// that they end together. Sums are f64, added up in the order of the ranks.
template <ValueType Value>
class CgAcrossRanks {
public:
    CgAcrossRanks() = default;
    CgAcrossRanks(const CgAcrossRanks&) = delete;
    CgAcrossRanks& operator=(const CgAcrossRanks&) = delete;
    virtual ~CgAcrossRanks() = default;

    /// r = b - A x with the present x, and the method begun anew. Ends a breakdown. Iterations go on counting.
    virtual void restart() = 0;

    /// Gives the device so many more iterations, which do nothing once the state is no longer `running`. Does not wait.
    virtual void launch(std::int64_t iterations) = 0;

    /// Waits for what was launched. The same on all ranks.
    [[nodiscard]] virtual KrylovProgress wait() = 0;

    [[nodiscard]] virtual std::vector<Value> x() = 0;  // this rank's part

    /// |r|_2 over all ranks before the first iteration and after each one.
    [[nodiscard]] virtual std::vector<double> history() = 0;

    /// Bytes that the vectors' part of an iteration must move on this rank: each vector that a step reads or writes once a
    /// step.
    [[nodiscard]] virtual std::int64_t vector_bytes() const = 0;

    /// One sum over all ranks as an iteration has it, to be timed; it changes nothing that a solve needs. Does not wait.
    virtual void sum_alone() = 0;
};

/// b and the inverse of the diagonal (or nothing: no preconditioner): this rank's part, [its rows], in the order of its
/// products; the method of the plan is cg. `product` multiplies across all ranks (it may take part in an exchange). A rank may
/// have no rows. The device and the links must outlive it. Called by all ranks.
template <ValueType Value>
[[nodiscard]] std::unique_ptr<CgAcrossRanks<Value>> make_cg_across_ranks(const KrylovPlan& plan, std::span<const Value> b,
                                                                         std::span<const Value> inverse_diagonal,
                                                                         Device& device, Links& links,
                                                                         KrylovProduct<Value> product);

}  // namespace workbench
