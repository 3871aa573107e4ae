// Several kernels, each with a share of the nonzeros, multiplied one after another into one y.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/contract/device.hpp"
#include "core/contract/kernel.hpp"

namespace workbench {

/// A kernel, and the bytes that it moves unless it states them itself, with x and y once each.
template <ValueType Value>
struct MadeKernel {
    std::unique_ptr<Kernel<Value>> kernel;
    std::int64_t bytes = 0;
};

/// The kernel of one share; all that it points to must outlive the hybrid kernel.
template <ValueType Value>
struct KernelOfShare {
    /// Makes the kernel, for a number of vectors, which writes or adds to its rows of y alone.
    std::function<MadeKernel<Value>(Device&, int vectors)> make;
    Index row_count = 0;               // of the kernel
    std::span<const Index> rows = {};  // [row_count] their numbers in y; empty if the kernel has all rows: row i is row i
    Index rows_present = 0;            // rows with nonzeros
};

/// y = A x as a sum over shares. The first share with nonzeros in a row writes it, later ones add to it. y is zeroed first if a
/// row is in no share, or if a share adds to rows of which some are not written yet. Kernels that cannot write to selected rows
/// write to a buffer, from which the device scatters. Side by side, a share that has no row in common with the shares that run
/// just before it runs at the same time as they do, if the device can.
template <ValueType Value>
class HybridKernel final : public Kernel<Value> {
public:
    /// `rows` and `columns`: the size of the whole matrix.
    HybridKernel(const std::vector<KernelOfShare<Value>>& shares, Index rows, Index columns, bool side_by_side, Device& device,
                 int vectors = 1);

    void run(const Value* x, Value* y, bool accumulate) override;

    /// The sum over the kernels, with x counted once; rows that are added to are also read.
    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return bytes_; }

    [[nodiscard]] bool zeroes_first() const { return zeroes_first_; }

private:
    struct ShareStep {
        std::unique_ptr<Kernel<Value>> kernel;
        bool adds = false;
        std::unique_ptr<Branch> branch = {};  // to run beside the step before it; null: after it
    };

    Device& device_;
    std::size_t bytes_of_y_;
    bool zeroes_first_ = false;
    std::vector<ShareStep> steps_;
    std::int64_t bytes_ = 0;
};

}  // namespace workbench
