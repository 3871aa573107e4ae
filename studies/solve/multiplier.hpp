// A recipe's SpMV with x and y in the same order, as Krylov methods need it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/contract/krylov.hpp"
#include "pipeline/engine/kernel_choice.hpp"
#include "pipeline/engine/ready.hpp"
#include "pipeline/measure/checked_product.hpp"

namespace workbench {

/// y = A x with the recipe's kernel; x and y are in column order. The input, a square matrix, must outlive it.
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

    /// See Ready::new_values_seconds.
    [[nodiscard]] double new_values_seconds(const Clock& clock) { return ready_.new_values_seconds(input_, device_, clock); }

    /// The parts of the recipe's partition; 0: none.
    [[nodiscard]] Index parts() const {
        return ready_.partition().empty() ? 0 : static_cast<Index>(ready_.partition().size()) - 1;
    }
    /// The matrix that a device prepared as a whole; null if the host did.
    [[nodiscard]] PlannedMatrix<Value>* planned() const { return ready_.planned(); }

    /// True if the values are rounded, and multiply_in_full multiplies with them in full.
    [[nodiscard]] bool rounds() const { return ready_.kernel_in_full() != nullptr; }
    void multiply_in_full(const Value* x, Value* y);

    /// The matrix for persistent solves, whose vectors are in the order of the input; divided in the recipe's order and where
    /// the recipe's partition divides it. Made by the first call. Throws Unsuitable with the reason if there can be no such
    /// solves.
    [[nodiscard]] PersistentSolver<Value>& persistent(KrylovMethod method, bool preconditioned);

    /// A product with vectors of its own, for timing. Refers to this object. The plan must have had an oracle.
    [[nodiscard]] std::unique_ptr<CheckedProduct<Value>> checked_product();

private:
    [[nodiscard]] std::unique_ptr<PersistentSolver<Value>> make_persistent(KrylovMethod method, bool preconditioned);

    const CsrMatrix& input_;
    Device& device_;
    Ready<Value> ready_;
    std::unique_ptr<PersistentSolver<Value>> persistent_;
    std::string reason_against_persistent_;  // empty: none, or not tried
};

}  // namespace workbench
