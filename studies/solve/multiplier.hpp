// A recipe's SpMV with x and y in the same order, as Krylov methods need it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/contract/krylov.hpp"
#include "pipeline/engine/kernel_choice.hpp"
#include "pipeline/engine/ready.hpp"
#include "pipeline/engine/solve_engine.hpp"
#include "pipeline/measure/checked_product.hpp"

namespace workbench {

/// y = A x with the recipe's kernel, or Y = A X if the plan's filter has several vectors; x and y are in column order. The
/// input, a square matrix, must outlive it.
template <ValueType Value>
class Multiplier {
public:
    /// Runs the stages, builds the layout, prepares and verifies the kernel; preparation() has the outcome. Throws InputError
    /// if the matrix does not suit a stage, RecipeError if no kernel of the recipe runs on the device, MachineError. The
    /// recipe, the oracle and the device must outlive this object.
    Multiplier(const Recipe& recipe, const CsrMatrix& input, const ReadyPlan<Value>& plan);
    Multiplier(const Multiplier&) = delete;
    Multiplier& operator=(const Multiplier&) = delete;
    ~Multiplier() = default;

    [[nodiscard]] const Preparation& preparation() const { return ready_.preparation(); }
    /// True if the kernel passed verification; otherwise it must not be used.
    [[nodiscard]] bool ready() const { return ready_.kernel() != nullptr; }

    /// The order of x and y.
    [[nodiscard]] const Permutation& order() const { return ready_.space().column_order; }

    /// Asynchronous on a GPU.
    void multiply(const Value* x, Value* y);
    /// Likewise for one vector, by the kernel that the recipe has for one.
    void multiply_one(const Value* x, Value* y);
    /// Prepares that kernel, unless `multiply` runs it, and returns its name.
    std::string prepare_one();

    /// The time to store new values: see Ready::new_values_seconds. With a persistent matrix that of this one, and of the
    /// layout only if a device prepared it, because a persistent solve does not read the host's.
    [[nodiscard]] double new_values_seconds(const Clock& clock);

    /// The matrix that a device prepared as a whole; null if the host did.
    [[nodiscard]] PlannedMatrix<Value>* planned() const { return ready_.planned(); }

    /// True if the values are rounded, and multiply_in_full multiplies with them in full.
    [[nodiscard]] bool rounds() const { return ready_.kernel_in_full() != nullptr; }
    void multiply_in_full(const Value* x, Value* y);

    /// The matrix for persistent solves, whose vectors are in the order of the input; divided in the recipe's order and where
    /// the recipe's partition divides it. Made by the first call. Throws Unsuitable with the reason if there can be no such
    /// solves.
    [[nodiscard]] PersistentSolver<Value>& persistent(const EngineWish& wish);
    /// See choose_engine of solve_engine.hpp.
    [[nodiscard]] EngineChoice engine_for(const EngineWish& wish) { return choose_engine(wish, ready_, solved(), device_); }

    /// A product with vectors of its own, for timing. Refers to this object. The plan must have had an oracle.
    [[nodiscard]] std::unique_ptr<CheckedProduct<Value>> checked_product();

private:
    [[nodiscard]] SolvedMatrix<Value> solved() const {
        return {.matrix = &input_, .there = ready_.copy(), .new_values = !rounds()};
    }

    const CsrMatrix& input_;
    Device& device_;
    std::vector<const KernelEntry*> kernels_of_one_;
    Ready<Value> ready_;
    Candidate<Value> one_;                          // with one vector
    std::shared_ptr<Kernel<Value>> kernel_of_one_;  // null: that of `ready_`, or not prepared
    std::unique_ptr<PersistentSolver<Value>> persistent_;
    std::string reason_against_persistent_;  // empty: none, or not tried
};

}  // namespace workbench
