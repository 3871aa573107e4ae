// y = A x with the rows of A, and the elements of x and y, spread over ranks.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pipeline/contract/links.hpp"
#include "pipeline/distributed/rank_shares.hpp"
#include "pipeline/run/ready_recipe.hpp"

namespace workbench {

/// What the ranks' matrices are made of, the same on all ranks.
struct RanksPlan {
    Ranks& ranks;
    Links& links;
    Device& device;
    const Recipe& recipe;                     // of the inside share
    std::vector<const KernelEntry*> kernels;  // of the recipe on this device (choose_kernels)
    const LayoutEntry& outside_layout;        // of the outside share, with its defaults
    Clock clock = {};
};

/// One rank's part of the product. It is a kernel: all ranks run it together. x is this rank's elements in the order of the
/// recipe's columns; y this rank's rows, in x's order where the matrix is square, otherwise in the input's.
template <ValueType Value>
class RankProduct {
public:
    /// Called by all. Runs the recipe's stages on the inside share, builds both layouts, prepares both kernels and verifies the
    /// whole product across ranks: exactly, on integers, and within rounding. Throws RanksFailed where it failed on one, with
    /// the exit code for a wrong result where that is why. The shares, and the plan's parts, must outlive it.
    RankProduct(const RanksPlan& plan, const RankShares& shares);
    RankProduct(const RankProduct&) = delete;
    RankProduct& operator=(const RankProduct&) = delete;
    ~RankProduct();

    /// y = A x. Called by all. Does not wait for a GPU.
    void multiply(const Value* x, Value* y);

    /// Its three parts by themselves, to be timed: the second is called by all. They change y.
    void multiply_inside(const Value* x, Value* y);
    void exchange(const Value* x);
    void multiply_outside(Value* y);

    [[nodiscard]] const Preparation& preparation() const { return preparation_; }
    /// Largest error over its bound, of all ranks; and on how many vectors of integers the product was exact.
    [[nodiscard]] double error_over_bound() const;
    [[nodiscard]] int exact_vectors() const;
    /// Which of this rank's elements of x stands at place i. [its elements of x]
    [[nodiscard]] std::span<const Index> element_at() const { return element_at_; }
    [[nodiscard]] double outside_seconds() const;  // of preparing the outside share

private:
    class Parts;

    Preparation preparation_;
    std::vector<Index> element_at_;
    std::optional<ReadyRecipe<Value>> inside_;  // none: this rank has no rows, or no elements of x
    std::unique_ptr<Parts> parts_;
};

}  // namespace workbench
