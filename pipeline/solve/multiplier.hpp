// A recipe's product as a solve needs it: x and y in one order.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pipeline/run/kernel_choice.hpp"
#include "pipeline/run/ready_recipe.hpp"

namespace workbench {

/// One product with its bounds: what a kernel is checked with while a solve waits for it.
template <ValueType Value>
struct OneProduct {
    explicit OneProduct(const CsrMatrix& input)
        : x(real_vector(input.columns, 1)), reference(bounded_reference<Value>(input, x)) {}

    std::vector<double> x;
    BoundedReference reference;
};

/// How it is to be made ready.
template <ValueType Value>
struct MultiplierPlan {
    const CsrMatrix& input;       // square
    const Oracle<Value>* oracle;  // verified twice, exactly and within bounds; null: not so
    Device& device;
    KernelWish wish;
    std::function<void(const std::string&)> tell = {};  // a step that may take long begins
    Clock clock = {};
    const OneProduct<Value>* product = nullptr;  // without an oracle: checked with this; null: taken as it is
    Keeping keeping = {};                        // of the matrix
    Preparer* preparer = nullptr;                // see StagedMatrix
};

/// y = A x with the recipe's kernel, x and y in one order: that of the columns.
template <ValueType Value>
class Multiplier {
public:
    /// Runs the stages, builds the layout, prepares and verifies the kernel; see the preparation for what became of it. Throws
    /// InputError where the matrix does not suit a stage, RecipeError where no kernel of the recipe runs on the device,
    /// MachineError. The recipe, the oracle and the device must outlive it.
    Multiplier(const Recipe& recipe, const MultiplierPlan<Value>& plan);
    Multiplier(const Multiplier&) = delete;
    Multiplier& operator=(const Multiplier&) = delete;
    ~Multiplier() = default;

    [[nodiscard]] const Preparation& preparation() const { return recipe_.preparation(); }
    /// Did the kernel pass verification? Otherwise it must not be used.
    [[nodiscard]] bool ready() const { return recipe_.kernel() != nullptr; }

    /// The order of x and y.
    [[nodiscard]] const Permutation& order() const { return recipe_.space().column_order; }

    /// Does not wait for the device.
    void multiply(const Value* x, Value* y);

    /// As something to be timed: with x and y of its own, on the real values.
    [[nodiscard]] std::function<void()> product();

private:
    /// Runs the one product; a kernel that is wrong is given up.
    void check(const OneProduct<Value>& product);

    Device& device_;
    ReadyRecipe<Value> recipe_;
    DeviceMemory x_;  // of product()
    DeviceMemory y_;
};

}  // namespace workbench
