// Solves of the library that advance together.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "frontends/library/applied_recipe.hpp"
#include "pipeline/solving/several_solves.hpp"

namespace workbench {

/// Conjugate gradients for several right-hand sides with an operator, whose vectors are on its device. The operator must
/// outlive it.
template <ValueType Value>
class SolvedTogether {
public:
    SolvedTogether(AppliedRecipe<Value>& recipe, const SeveralPlan<Value>& plan);

    [[nodiscard]] int count() const { return krylov_->count(); }

    /// Begins new solves with X = 0. b: [rows x count] on the device in the caller's order, row by row. inverse_diagonal:
    /// [rows] on the host in the caller's order, if the plan has one. Returns |b|_2 of each.
    std::vector<double> begin(const Value* b, std::span<const Value> inverse_diagonal, double tolerance);
    /// Continues from this X, like b, which is 0 where all of b is.
    void begin_from(const Value* x);

    /// Runs until all have ended; the residuals of their progress are the true ones. between(): called between iterations,
    /// several times a second; may be empty.
    [[nodiscard]] std::vector<OneOfSeveral> run(const std::vector<SolveRules>& rules, const std::function<void()>& between);

    /// B of one, on the host in the recipe's order.
    [[nodiscard]] std::vector<double> right_hand_side(int which);
    /// Writes X, like b.
    void copy_x(Value* x);

private:
    class Course;

    [[nodiscard]] std::size_t elements() const { return static_cast<std::size_t>(plan_.size) * plan_.count; }

    AppliedRecipe<Value>& recipe_;
    SeveralPlan<Value> plan_;
    std::shared_ptr<SeveralVectors<Value>> product_;
    std::unique_ptr<SeveralKrylov<Value>> krylov_;
    std::vector<double> norms_;
};

}  // namespace workbench
