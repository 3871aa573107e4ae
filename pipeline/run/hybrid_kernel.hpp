// Several layouts, each of a share of the nonzeros, multiplied one after another into one y.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "pipeline/contract/layout.hpp"

namespace workbench {

/// The kernel of one share. What it points to outlives it.
template <ValueType Value>
struct KernelOfShare {
    const KernelEntry* kernel = nullptr;
    const Layout<Value>* layout = nullptr;
    std::span<const Index> rows = {};  // [rows of the layout] of the matrix; none, where the layout has all: row i is row i
    Index present = 0;                 // rows with nonzeros
};

/// y = A x as a sum over shares. The first share to come to a row writes it, those after it add; y is zeroed before where a row
/// is in no share, or where a share adds to rows of which some are still to be written. A kernel that knows nothing of other
/// rows writes to a buffer, from which its rows are brought to y. Side by side, each share that has no row in common with those
/// directly before it that run together runs with them, where the device can.
template <ValueType Value>
class HybridKernel final : public Kernel<Value> {
public:
    /// Of a matrix with so many rows and columns.
    HybridKernel(const std::vector<KernelOfShare<Value>>& shares, Index rows, Index columns, bool side_by_side, Device& device);

    void run(const Value* x, Value* y, bool accumulate) override;

    /// What the kernels move, x once for all of them; rows that are added to are read, too.
    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return bytes_; }

    [[nodiscard]] bool zeroes_first() const { return zeroes_first_; }

private:
    struct Step {
        std::unique_ptr<Kernel<Value>> kernel;
        bool adds = false;
        std::unique_ptr<Branch> branch = {};  // beside the step before it; none: after it
    };

    Device& device_;
    Index rows_;
    bool zeroes_first_ = false;
    std::vector<Step> steps_;
    std::int64_t bytes_ = 0;
};

}  // namespace workbench
