// A recipe's SpMV with x and y in the same order, as Krylov methods need it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/contract/krylov.hpp"
#include "pipeline/engine/kernel_choice.hpp"
#include "pipeline/engine/ready_recipe.hpp"

namespace workbench {

/// One reference product with error bounds: a check cheap enough for a kernel that joins a running solve.
template <ValueType Value>
struct OneProduct {
    explicit OneProduct(const CsrMatrix& input)
        : x(real_vector(input.columns, 1)), reference(bounded_reference<Value>(input, x)) {}

    std::vector<double> x;
    BoundedReference reference;
};

template <ValueType Value>
struct MultiplierPlan {
    const CsrMatrix& input;  // square
    Device& device;
    KernelFilter filter = {};                               // the kernels to choose from
    const Oracle<Value>* oracle = nullptr;                  // verifies the kernel exactly and within bounds; may be null
    const OneProduct<Value>* product = nullptr;             // without an oracle: checks the kernel; null: not checked
    std::function<void(const std::string&)> progress = {};  // called before each long step
    Clock clock = {};
    Keeping keeping = {};          // of the matrix
    Preparer* preparer = nullptr;  // see StagedMatrix
    bool also_in_full = false;     // see ReadyPlan
};

/// y = A x with the recipe's kernel; x and y are in column order. The input must outlive it.
template <ValueType Value>
class Multiplier {
public:
    /// Runs the stages, builds the layout, prepares and verifies the kernel; preparation() has the outcome. Throws InputError
    /// if the matrix does not suit a stage, RecipeError if no kernel of the recipe runs on the device, MachineError. The
    /// recipe, the oracle and the device must outlive this object.
    Multiplier(const Recipe& recipe, const MultiplierPlan<Value>& plan);
    Multiplier(const Multiplier&) = delete;
    Multiplier& operator=(const Multiplier&) = delete;
    ~Multiplier() = default;

    [[nodiscard]] const Preparation& preparation() const { return recipe_->preparation(); }
    /// True if the kernel passed verification; otherwise it must not be used.
    [[nodiscard]] bool ready() const { return recipe_->kernel() != nullptr; }

    /// The order of x and y.
    [[nodiscard]] const Permutation& order() const { return recipe_->space().column_order; }

    /// Asynchronous on a GPU.
    void multiply(const Value* x, Value* y);

    /// True if the values are rounded, and multiply_in_full multiplies with them in full.
    [[nodiscard]] bool rounds() const { return recipe_->kernel_in_full() != nullptr; }
    void multiply_in_full(const Value* x, Value* y);

    /// The matrix in the recipe's order for persistent solves, divided where the recipe's partition divides it; made by the
    /// first call. Throws Unsuitable with the reason if there can be no such solves.
    [[nodiscard]] PersistentSolver<Value>& persistent(KrylovMethod method, bool preconditioned);
    /// The time that the first call took.
    [[nodiscard]] double persistent_seconds() const { return persistent_seconds_; }

    /// A product with vectors of its own, for timing.
    [[nodiscard]] std::function<void()> product();

private:
    /// Copies the matrix to the device, which prepares the recipe if it can do all of it; otherwise recipe_ is null. Returns
    /// the reason if the device declined after it had got the matrix, otherwise "".
    [[nodiscard]] std::string prepare_on_device(const Recipe& recipe, const MultiplierPlan<Value>& plan);

    /// Compares one product with its reference; a wrong kernel is discarded.
    void check(const OneProduct<Value>& product);

    [[nodiscard]] std::unique_ptr<PersistentSolver<Value>> make_persistent(KrylovMethod method, bool preconditioned);

    const CsrMatrix& input_;
    Device& device_;
    Clock clock_;
    std::unique_ptr<ReadyRecipe<Value>> recipe_;
    std::unique_ptr<PersistentSolver<Value>> persistent_;
    std::string reason_against_persistent_;  // empty: none, or not tried
    double persistent_seconds_ = 0;
    DeviceMemory x_;  // for product()
    DeviceMemory y_;
};

}  // namespace workbench
