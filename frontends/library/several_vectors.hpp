// Products of an operator with several vectors.
#pragma once

#include <memory>
#include <span>

#include "pipeline/measure/candidate.hpp"

namespace workbench {

/// Y = A X in the caller's order, with X [columns x vectors] and Y [rows x vectors] row by row.
template <ValueType Value>
class SeveralVectors {
public:
    /// Prepares a kernel. The device must outlive this. Throws InputError, Unsuitable or MachineError.
    SeveralVectors(const Candidate<Value>& candidate, int vectors, Device& device);

    /// Y = A X, or Y += A X, in memory of the device.
    void run(const Value* x, Value* y, bool accumulate);
    /// Likewise in memory of the host; synchronous.
    void run_from_host(std::span<const Value> x, std::span<Value> y, bool accumulate);

    /// Y = A X in the recipe's order, for a square matrix.
    void run_in_recipe_order(const Value* x, Value* y) { kernel_->run(x, y, false); }
    /// Brings vectors like X into the recipe's order, or back to the caller's, for a square matrix.
    void permute(const Value* from, Value* to, bool to_recipe);

private:
    Device& device_;
    Candidate<Value> candidate_;
    std::shared_ptr<Kernel<Value>> kernel_;
    Index elements_of_x_;
    Index elements_of_y_;
    DeviceMemory x_to_recipe_;  // the place of each element; empty: the same
    DeviceMemory y_to_caller_;
    DeviceMemory identity_;  // of the elements of X; allocated on first use
    DeviceMemory x_;         // in the recipe's order, if that differs
    DeviceMemory y_;
    DeviceMemory x_from_host_;  // on a GPU; allocated on first use
    DeviceMemory y_from_host_;
};

}  // namespace workbench
