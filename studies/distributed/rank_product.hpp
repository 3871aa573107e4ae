// y = A x with the rows of A and the elements of x and y distributed over ranks.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/contract/links.hpp"
#include "pipeline/engine/ready.hpp"
#include "studies/distributed/rank_shares.hpp"

namespace workbench {

/// How the ranks multiply; recipe and layout must be the same on all ranks.
struct RanksPlan {
    Ranks& ranks;
    Links& links;
    Device& device;
    const Recipe& recipe;                     // for the inside share
    std::vector<const KernelEntry*> kernels;  // of the recipe on this device (choose_kernels)
    const LayoutEntry& outside_layout;        // for the outside share, with default parameters
    Clock clock = {};
};

/// One rank's part of the product, which all ranks run together. x: this rank's elements in the recipe's column order. y: this
/// rank's rows, in x's order if the matrix is square, otherwise in the input's order.
template <ValueType Value>
class RankProduct {
public:
    /// Collective. Runs the recipe's stages on the inside share, builds both layouts, prepares both kernels and verifies the
    /// product across ranks, exactly on integers and within rounding. Throws RanksFailed if any rank fails, with the exit code
    /// of a wrong result if that is the reason. The shares and the plan's members must outlive this object.
    RankProduct(const RanksPlan& plan, const RankShares& shares);
    RankProduct(const RankProduct&) = delete;
    RankProduct& operator=(const RankProduct&) = delete;
    ~RankProduct();

    /// y = A x. Collective; asynchronous on a GPU.
    void multiply(const Value* x, Value* y);

    // The parts of multiply, for timing; exchange is collective.
    void multiply_inside(const Value* x, Value* y);
    void exchange(const Value* x);
    void multiply_outside(Value* y);

    [[nodiscard]] const Preparation& preparation() const { return preparation_; }
    [[nodiscard]] double error_over_bound() const;  // the maximum over all ranks
    [[nodiscard]] int exact_vectors() const;        // integer vectors for which the product was exact
    /// The element of this rank's part of x that is at position i of the reordered x.
    [[nodiscard]] std::span<const Index> element_at() const { return element_at_; }
    /// The boundaries of the partition of the reordered rows, if the recipe has one, otherwise empty.
    [[nodiscard]] std::span<const Index> partition() const;
    [[nodiscard]] double outside_seconds() const;  // for preparing the outside share

private:
    class Parts;

    Preparation preparation_;
    std::vector<Index> element_at_;
    std::optional<Ready<Value>> inside_;  // none if this rank has no rows or no elements of x
    std::unique_ptr<Parts> parts_;
};

}  // namespace workbench
